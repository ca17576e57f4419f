import "@mantine/core/styles.css";
import "./styles.css";
import "./coverage/coverage.css";
import "./pages.css";
import { createRoot } from "react-dom/client";
import { createTheme, localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createBrowserRouter, RouterProvider } from "react-router";
import { ApiError } from "./api/client";
import { Shell } from "./Shell";
import { PageError } from "./components/PageError";
import { routes } from "./routes";

// The server's policy allows no style elements. Mantine makes them for its variables and classes (switched off here, the static
// stylesheets have them), for responsive props, Grid, SimpleGrid and AppShell (not used, see dev/rules.test.mjs), and for the
// scroll lock of a modal (switched off). Style attributes are set through the DOM, which the policy allows.
const theme = createTheme({ components: { Modal: { defaultProps: { lockScroll: false } }, Drawer: { defaultProps: { lockScroll: false } } } });
const colours = localStorageColorSchemeManager({ key: "patra-theme" });

const client = new QueryClient({
  defaultOptions: {
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always", // the server is often on this machine, and answers without any network
      staleTime: 10_000, refetchOnWindowFocus: false,
      retry: (n, e) => n < 3 && !(e instanceof ApiError && e.status >= 400 && e.status < 500),
      refetchInterval: (q) => (q.state.status === "error" ? 10_000 : false), // a server that comes back is noticed without a click
    },
  },
});

const router = createBrowserRouter([
  { element: <Shell />, errorElement: <PageError />, children: routes.map(({ path, page: Page }) => ({ path, element: <Page />, errorElement: <PageError /> })) },
]);

createRoot(document.getElementById("root")!).render(
  <MantineProvider theme={theme} defaultColorScheme="auto" colorSchemeManager={colours} withCssVariables={false} withGlobalClasses={false}>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>,
);
