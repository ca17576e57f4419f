import { useEffect, useRef } from "react";
import { useElementSize } from "@mantine/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

/** Chart draws with uPlot into a box that follows the width of the page. A chart is never the only way to its numbers. */
export function Chart({ data, options, height = 220, label }: { data: uPlot.AlignedData; options: (ink: { line: string; text: string; grid: string }) => Omit<uPlot.Options, "width" | "height">; height?: number; label: string }) {
  const { ref, width } = useElementSize();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    if (!box.current || width < 50) return;
    const draw = () => {
      plot.current?.destroy();
      const style = getComputedStyle(document.documentElement), of = (name: string) => style.getPropertyValue(name).trim();
      plot.current = new uPlot({ ...latest.current({ line: of("--c-running"), text: of("--dim"), grid: of("--line") }), width, height }, data, box.current!);
    };
    draw();
    const theme = new MutationObserver(draw); // canvases do not follow a change from light to dark by themselves
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-mantine-color-scheme"] });
    return () => { theme.disconnect(); plot.current?.destroy(); plot.current = undefined; };
  }, [data, width, height]);
  return <div ref={ref} role="img" aria-label={label}><div ref={box} /></div>;
}
