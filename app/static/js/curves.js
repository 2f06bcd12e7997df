// Curves of the chosen classes of a submission, overlaid in one plot.
const root = document.querySelector("[data-curves]");
const MAX_CURVES = 12;
const FEW_POINTS = 11; // of a curve that is known at so many recalls only: each is marked
// What each kind of curve has to the right and upwards: the names in the API's answer, which are also those of the axes.
const AXES = {
  precision_recall: ["recall", "precision"],
  roc: ["false_positive_rate", "true_positive_rate"],
};
const DASH = 9; // pixels, of lines that lie on each other
const DASHES = [[], [8, 4], [2, 3]];
const loaded = new Map(); // by address

// Okabe and Ito's colours, which colour-blind readers can distinguish; a dash pattern for each cycle of colours.
const COLOURS = {
  light: ["#0a5f63", "#d55e00", "#0072b2", "#a8437e", "#7a6a00", "#3d3d3d"],
  dark: ["#62c9b9", "#ff9552", "#6db8ec", "#e69ac4", "#e6d34f", "#d8d8d8"],
};

function palette() {
  const style = getComputedStyle(document.documentElement);
  const forced = document.documentElement.dataset.theme;
  const dark = forced ? forced === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return { lines: dark ? COLOURS.dark : COLOURS.light, ink: dark ? "#e4ece9" : "#14211f", grid: dark ? "#2a3836" : "#d3dbd7", font: style.fontFamily };
}

async function fetchCurves(address) {
  if (!loaded.has(address)) {
    loaded.set(
      address,
      fetch(address, { headers: { Accept: "application/json" } }).then((answer) => {
        if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
        return answer.json();
      }),
    );
    loaded.get(address).catch(() => loaded.delete(address));
  }
  return loaded.get(address);
}

function dataset({ label, points }, index, colours) {
  const colour = colours[index % colours.length];
  return {
    label,
    data: points,
    borderColor: colour,
    backgroundColor: colour,
    borderDash: DASHES[Math.floor(index / colours.length) % DASHES.length],
    borderWidth: 2,
    pointRadius: points.length <= FEW_POINTS ? 2.5 : 0,
    pointHitRadius: 8,
    tension: 0,
    clip: 3, // a line along the edge keeps its width
  };
}

function spoken(name) {
  return name.replaceAll("_", " ");
}

function capitalized(text) {
  return text[0].toUpperCase() + text.slice(1);
}

// Where lines lie on each other, each shows through the gaps of the others.
function separated(datasets) {
  const stretch = (from, to) => `${from.x} ${from.y} ${to.x} ${to.y}`;
  const sharing = new Map(); // the lines that have a stretch in common
  for (const line of datasets) {
    line.data.slice(1).forEach((to, index) => {
      const key = stretch(line.data[index], to);
      sharing.set(key, [...(sharing.get(key) ?? []), line.label]);
    });
  }
  for (const line of datasets) {
    const here = ({ p0DataIndex, p1DataIndex }) => sharing.get(stretch(line.data[p0DataIndex], line.data[p1DataIndex])) ?? [];
    line.segment = {
      borderDash: (at) => (here(at).length > 1 ? [DASH, DASH * (here(at).length - 1)] : undefined),
      borderDashOffset: (at) => (here(at).length > 1 ? -DASH * here(at).indexOf(line.label) : undefined),
    };
  }
  return datasets;
}

function options({ ink, grid, font }, [right, up]) {
  const axis = (text) => ({
    type: "linear",
    min: 0,
    max: 1,
    title: { display: true, text, color: ink, font: { family: font, size: 13 } },
    ticks: { color: ink, stepSize: 0.2, callback: (value) => `${Math.round(100 * value)} %`, font: { family: font } },
    grid: { color: grid },
    border: { color: ink },
  });
  return {
    animation: false,
    maintainAspectRatio: false,
    interaction: { mode: "nearest", axis: "x", intersect: false },
    scales: { x: axis(capitalized(right)), y: axis(capitalized(up)) },
    plugins: {
      legend: { position: "bottom", labels: { color: ink, boxWidth: 24, boxHeight: 2, font: { family: font, size: 13 } } },
      tooltip: {
        position: "corner",
        backgroundColor: "#14211f", // opaque, so that no line runs through the text
        caretSize: 0, // it would point at the corner
        titleFont: { family: font },
        bodyFont: { family: font, size: 13 },
        callbacks: {
          title: () => "",
          label: ({ dataset: { label }, parsed }) => `${label}: ${(100 * parsed.y).toFixed(1)} % at ${(100 * parsed.x).toFixed(1)} %`,
        },
      },
    },
  };
}

class CurvePlot {
  constructor(frame) {
    this.frame = frame;
    this.canvas = frame.querySelector("canvas");
    this.curves = [];
    document.addEventListener("themechange", () => this.show(this.curves));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show(this.curves));
  }

  show(curves) {
    this.curves = curves;
    this.frame.hidden = curves.length === 0;
    this.chart?.destroy();
    this.chart = undefined;
    if (!curves.length) return;
    const colours = palette();
    this.chart = new window.Chart(this.canvas, {
      type: "scatter",
      data: { datasets: separated(curves.map((curve, index) => ({ ...dataset(curve, index, colours.lines), showLine: true }))) },
      options: options(colours, AXES[root.dataset.curves].map(spoken)),
    });
  }
}

function start() {
  const plot = new CurvePlot(root.querySelector("[data-plot]"));
  const boxes = [...document.querySelectorAll("input[data-curve]")];
  let round = 0;

  async function draw() {
    const mine = ++round;
    const chosen = boxes.filter((box) => box.checked);
    const wanted = await Promise.allSettled(
      chosen.slice(0, MAX_CURVES).map(async (box) => {
        const answer = await fetchCurves(box.dataset.source);
        const name = box.dataset.curve;
        const [right, up] = AXES[answer.kind ?? root.dataset.curves];
        const curve = answer.curves[name] ?? { [right]: [], [up]: [] };
        return { label: box.dataset.label, points: curve[right].map((x, index) => ({ x, y: curve[up][index] })) };
      }),
    );
    if (mine !== round) return; // a later choice is on its way
    const curves = wanted.filter((one) => one.status === "fulfilled").map((one) => one.value);
    plot.show(curves.filter((curve) => curve.points.length));
  }

  // The chosen classes are in the address, so that they survive a reload and can be bookmarked.
  function remember() {
    const url = new URL(location.href);
    url.searchParams.delete("curve");
    for (const box of boxes.filter((each) => each.checked)) url.searchParams.append("curve", box.dataset.curve);
    history.replaceState(null, "", url);
  }

  root.hidden = false;
  const asked = new URLSearchParams(location.search).getAll("curve");
  for (const box of boxes) {
    box.hidden = false;
    box.checked = asked.length ? asked.includes(box.dataset.curve) : box.checked;
    box.addEventListener("change", () => {
      remember();
      draw();
    });
  }
  if (!boxes.some((box) => box.checked)) boxes[0].checked = true;
  draw();
}

// Values are read out in the lower left corner, which the curves of a good method leave free, and never over the lines.
function cornerOfPlot(items) {
  const area = this.chart.chartArea;
  return items.length ? { x: area.left + 4, y: area.bottom - 4, xAlign: "left", yAlign: "bottom" } : false;
}

if (window.Chart) window.Chart.Tooltip.positioners.corner = cornerOfPlot;
if (root && window.Chart && document.querySelector("input[data-curve]")) start();
