// Series over time with uPlot, from JSON in the attribute: points, interval bands, rules where versions changed.
// Follows the theme, its box and the arrow keys; the table of the same numbers is beside it on the page.

import { onContent } from "../shared/events.js";
import { hasModifier } from "../shared/keys.js";
import { pointWords } from "./point_words.js";
import { placeLabels } from "./rule_labels.js";
import { lookOf } from "./series_looks.js";

/**
 * @typedef {object} Series one line, a value or none for each of the times
 * @property {string} label
 * @property {string} [kind]
 * @property {number} [turn] how often all colours were taken before it
 * @property {boolean} [joined] false where its points stand alone; true where a line goes on over those of others
 * @property {(number | null)[]} values
 * @property {(number | null)[]} [low]
 * @property {(number | null)[]} [high]
 */

/**
 * @typedef {object} Data what the page holds for a chart; times in seconds
 * @property {number[]} times
 * @property {string[] | null} [names] what stands below the points instead of times, which are then places from 0
 * @property {Series[]} series
 * @property {{ time: number, label: string }[]} [breaks] where versions changed
 * @property {{ name: string, url: string }[]} [runs] where the points are runs
 * @property {number} [minimum]
 * @property {number} [maximum]
 */

/** @typedef {{ plot: Plot, data: Data }} Chart */
/** @typedef {{ stroke: string, font: string }} Axis */

/** @type {Record<string, string>} */
const INKS = {
  human: "--series-people",
  judge: "--series-judge",
  other: "--series-other",
  third: "--series-third",
  fourth: "--series-fourth",
  fifth: "--series-fifth",
};
/** @type {Map<Element, Chart>} */
const charts = new Map();

/** @param {Series} series */
const tokenOf = (series) => INKS[series.kind ?? "other"] ?? INKS.other;

// Canvas needs a finished colour, and tokens are light-dark() expressions: let an element resolve them.
/** @type {(holder: HTMLElement, token: string, alpha?: number) => string} */
const ink = (holder, token, alpha = 1) => {
  const probe = document.createElement("span");
  probe.style.color =
    alpha === 1 ? `var(${token})` : `color-mix(in srgb, var(${token}) ${alpha * 100}%, transparent)`;
  holder.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
};

/** @param {HTMLElement} holder */
const draw = (holder) => {
  /** @type {Data} */
  const data = JSON.parse(holder.dataset.chartTime ?? "");
  charts.get(holder)?.plot.destroy();

  /** @type {(number | null)[][]} */
  const columns = [data.times];
  /** @type {object[]} */
  const series = [{}];
  const bands = [];
  for (const each of data.series) {
    const color = ink(holder, tokenOf(each));
    columns.push(each.values);
    series.push({
      label: each.label,
      stroke: color,
      width: 1.75,
      dash: lookOf(each.turn).dash,
      points: { show: false },
      spanGaps: each.joined === true,
      ...(each.joined === false && { paths: () => null }),
    });
    if (each.joined !== false && each.low && each.high) {
      const edge = {
        stroke: "transparent",
        width: 0,
        points: { show: false },
        label: "",
        spanGaps: each.joined === true,
      };
      columns.push(each.high, each.low);
      series.push({ ...edge }, { ...edge });
      bands.push({
        series: [series.length - 2, series.length - 1],
        fill: ink(holder, tokenOf(each), 0.14),
      });
    }
  }

  const axis = {
    stroke: ink(holder, "--ink-muted"),
    font: `12px ${getComputedStyle(holder).fontFamily}`,
    grid: { stroke: ink(holder, "--grid-line"), width: 1 },
    ticks: { show: false },
  };
  const plot = new uPlot(
    {
      width: holder.clientWidth,
      height: Number(holder.dataset.chartHeight ?? 240),
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 8 } },
      scales: {
        x: data.names ? { time: false, range: () => [-0.4, data.times.length - 0.6] } : {},
        y: {
          range: (/** @type {Plot} */ _, /** @type {number} */ low, /** @type {number} */ high) =>
            range(data, low, high),
        },
      },
      padding: [12 + RULE_ROW * (ruleRows(data) - 1), 16, 0, 0],
      axes: [
        data.names
          ? { ...axis, size: 28, splits: () => data.times, values: names(data.names) }
          : { ...axis, size: 28, values: dates(data.times) },
        { ...axis, size: 46 },
      ],
      series,
      bands,
      hooks: {
        setCursor: [(/** @type {Plot} */ chart) => readOut(holder, data, chart.cursor.idx)],
        draw: [
          (/** @type {Plot} */ chart) => {
            drawIntervals(chart, data, (each) => ink(holder, tokenOf(each), 0.55));
            drawMarks(chart, data, (each) => ink(holder, tokenOf(each)), ink(holder, "--surface"));
          },
        ],
        drawClear: [
          (/** @type {Plot} */ chart) => drawBreaks(chart, data, ink(holder, "--border-control"), axis),
        ],
      },
    },
    columns,
    holder,
  );
  charts.set(holder, { plot, data });
  readOut(holder, data, null);
  holder.classList.toggle("chart__plot--opens", Boolean(data.runs));
};

// A little air around the data, never past the ends of the scale the server named.
/** @type {(data: Data, low: number, high: number) => [number, number]} */
const range = (data, low, high) => {
  const air = Math.max((high - low) * 0.15, 0.02);
  return [Math.max(data.minimum ?? -Infinity, low - air), Math.min(data.maximum ?? Infinity, high + air)];
};

/** @param {number[]} times */
const dates = (times) => {
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const format = new Intl.DateTimeFormat(
    undefined,
    span < 2 * 86400 ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" },
  );
  return (/** @type {Plot} */ _, /** @type {number[]} */ ticks) => {
    const words = ticks.map((tick) => format.format(tick * 1000));
    return words.map((word, index) => (word === words[index - 1] ? "" : word));
  };
};

// Of many names every second, third, … is written: each has room for about twelve letters.
/** @param {string[]} all */
const names = (all) => (/** @type {Plot} */ chart) => {
  const step = Math.ceil((all.length * 84) / Math.max(chart.width, 1));
  return all.map((name, place) => (place % step ? "" : name));
};

// A band has no width at a single point: a whisker shows the interval there too.
/** @type {(chart: Plot, data: Data, inkOf: (series: Series) => string) => void} */
const drawIntervals = (chart, data, inkOf) => {
  const { ctx } = chart;
  ctx.save();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.setLineDash([]);
  for (const each of data.series) {
    if (!each.low || !each.high) continue;
    ctx.strokeStyle = inkOf(each);
    data.times.forEach((time, index) => {
      const middle = each.values[index];
      const low = each.low?.[index];
      const high = each.high?.[index];
      if (middle == null || low == null || high == null) return;
      const x = Math.round(chart.valToPos(time, "x", true));
      const gap = 4 * devicePixelRatio; // leaves the point itself clear
      const at = chart.valToPos(middle, "y", true);
      for (const [end, side] of [
        [low, 1],
        [high, -1],
      ]) {
        const y = chart.valToPos(end, "y", true);
        if ((y - at) * side <= gap) continue;
        ctx.beginPath();
        ctx.moveTo(x, at + gap * side);
        ctx.lineTo(x, y);
        ctx.moveTo(x - gap, y);
        ctx.lineTo(x + gap, y);
        ctx.stroke();
      }
    });
  }
  ctx.restore();
};

/** @type {(chart: Plot, data: Data, inkOf: (series: Series) => string, surface: string) => void} */
const drawMarks = (chart, data, inkOf, surface) => {
  const { ctx } = chart;
  ctx.save();
  ctx.setLineDash([]);
  ctx.lineWidth = 1.5;
  ctx.fillStyle = surface;
  for (const each of data.series) {
    const mark = new Path2D(lookOf(each.turn).mark);
    ctx.strokeStyle = inkOf(each);
    each.values.forEach((value, index) => {
      if (value == null) return;
      const x = chart.valToPos(data.times[index], "x", true);
      const y = chart.valToPos(value, "y", true);
      ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, x, y);
      ctx.fill(mark);
      ctx.stroke(mark);
    });
  }
  ctx.restore();
};

// Words at rules stand above the plot, in as many rows as are needed for a few of them.
const RULE_ROW = 14;
const MOST_RULE_ROWS = 3;
const LONGEST_RULE_LABEL = 180;
/** @param {Data} data */
const ruleRows = (data) => Math.max(1, Math.min(MOST_RULE_ROWS, data.breaks?.length ?? 0));

/** @type {(chart: Plot, data: Data, color: string, axis: Axis) => void} */
const drawBreaks = (chart, data, color, axis) => {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = axis.stroke;
  ctx.font = `${11 * devicePixelRatio}px ${axis.font.slice(5)}`;
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  const rules = (data.breaks ?? [])
    .map(({ time, label }) => ({ x: Math.round(chart.valToPos(time, "x", true)), text: label }))
    .filter(({ x }) => x >= bbox.left && x <= bbox.left + bbox.width);
  const rows = ruleRows(data);
  const placed = placeLabels(rules, {
    right: bbox.left + bbox.width + 16 * devicePixelRatio,
    longest: LONGEST_RULE_LABEL * devicePixelRatio,
    rows,
    widthOf: (text) => ctx.measureText(text).width,
  });
  rules.forEach(({ x }, index) => {
    const at = placed[index];
    const top =
      bbox.top - 3 * devicePixelRatio - (rows - 1 - (at?.row ?? rows - 1)) * RULE_ROW * devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, at ? top : bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (at) ctx.fillText(at.text, x, top);
  });
  ctx.restore();
};

// One line under the plot: the legend, and the numbers of the point under the cursor.
/** @type {(holder: HTMLElement, data: Data, index: number | null | undefined) => void} */
const readOut = (holder, data, index) => {
  let line = holder.nextElementSibling;
  if (!line?.matches(".chart__readout")) {
    line = document.createElement("div");
    line.className = "chart__readout legend";
    line.setAttribute("aria-live", "polite");
    holder.after(line);
  }
  line.replaceChildren(
    ...data.series.map((each) => {
      const item = document.createElement("span");
      const value = index == null ? null : each.values[index];
      item.hidden = Boolean(data.runs) && index != null && value == null;
      item.append(key(each), ` ${each.label}${value == null ? "" : ` ${value.toFixed(3)}`}`);
      return item;
    }),
  );
  if (index == null) return;
  if (data.runs) {
    const name = document.createElement("strong");
    name.textContent = data.runs[index].name;
    line.prepend(name, " ");
  }
  const where = document.createElement(data.names ? "span" : "time");
  where.textContent = pointWords(data, index);
  line.append(where);
  const rule = data.breaks?.find(({ time }) => time === data.times[index]);
  if (rule) line.append(`New here: ${rule.label}`);
};

const SVG = "http://www.w3.org/2000/svg";

// A piece of the series' line with its mark, as in the plot.
/** @param {Series} series */
const key = (series) => {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("class", "chart__key");
  drawing.setAttribute("viewBox", "-14 -6 28 12");
  drawing.setAttribute("aria-hidden", "true");
  drawing.style.color = `var(${tokenOf(series)})`;
  const { mark, dash } = lookOf(series.turn);
  if (series.joined !== false) drawing.append(path("M-14 0H14", { "stroke-dasharray": dash.join(" ") }));
  drawing.append(path(mark, { class: "chart__mark" }));
  return drawing;
};

/** @type {(d: string, more: Record<string, string>) => SVGElement} */
const path = (d, more) => {
  const drawn = document.createElementNS(SVG, "path");
  for (const [name, value] of Object.entries({ d, ...more })) drawn.setAttribute(name, value);
  return drawn;
};

/** @type {(chart: Chart, index: number) => void} */
const goTo = ({ plot, data }, index) =>
  plot.setCursor({ left: plot.valToPos(data.times[index], "x"), top: 10 });

// Where the points are runs, the one that is read out opens.
/** @param {Chart} chart */
const openRun = ({ plot, data }) => {
  const run = data.runs?.[plot.cursor.idx ?? -1];
  if (run) location.assign(run.url);
};

document.addEventListener("keydown", (event) => {
  const chart = charts.get(event.target);
  if (!chart || hasModifier(event)) return;
  if (event.key === "Enter") {
    openRun(chart);
    return;
  }
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const last = chart.data.times.length - 1;
  const at = chart.plot.cursor.idx ?? (step > 0 ? -1 : last + 1);
  goTo(chart, Math.min(last, Math.max(0, at + step)));
});

// Whoever comes by keyboard hears of the newest first.
document.addEventListener("focusin", (event) => {
  const chart = charts.get(event.target);
  if (chart?.data.runs?.length && event.target.matches(":focus-visible"))
    goTo(chart, chart.data.runs.length - 1);
});

document.addEventListener("click", (event) => {
  const holder = event.target.closest?.("[data-chart-time]");
  const chart = holder && charts.get(holder);
  if (!holder || !chart) return;
  // A finger cannot hover: the first touch of a point reads it out, the second opens it.
  const told = holder.dataset.told;
  holder.dataset.told = String(chart.plot.cursor.idx);
  if (event instanceof PointerEvent && event.pointerType === "touch" && told !== holder.dataset.told) return;
  openRun(chart);
});

const resizer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const chart = charts.get(target);
    if (chart && target.clientWidth && chart.plot.width !== target.clientWidth) {
      chart.plot.setSize({ width: target.clientWidth, height: chart.plot.height });
    }
  }
});

const prepareAnew = () => {
  for (const holder of charts.keys()) if (holder instanceof HTMLElement) draw(holder);
};

const prepare = () => {
  for (const holder of charts.keys()) if (!holder.isConnected) charts.delete(holder);
  for (const holder of document.querySelectorAll("[data-chart-time]")) {
    if (charts.has(holder)) continue;
    draw(holder);
    resizer.observe(holder);
  }
};

onContent(prepare);
document.addEventListener("theme:changed", prepareAnew);
