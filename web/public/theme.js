// Sets light or dark before the first paint. A file of its own, because the server's policy allows no script within the page.
(function () {
  var kept = null;
  try { kept = localStorage.getItem("patra-theme"); } catch (e) { /* storage is forbidden: follow the system */ }
  var dark = kept === "dark" || (kept !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
