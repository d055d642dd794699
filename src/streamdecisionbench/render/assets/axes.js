// Scales, the frame of a pace chart, and lines over time.

sdb.paceScale = (from, to) => {
  const [a, b] = [Math.log(sdb.low), Math.log(sdb.high)];
  return {
    at: (interval) => from + ((Math.log(interval) - a) / (b - a)) * (to - from),
    back: (x) => Math.exp(a + ((x - from) / (to - from)) * (b - a)),
  };
};

sdb.linear = (a, b, from, to) => (value) => from + ((value - a) / (b - a)) * (to - from);

/* Doublings of the lower bound up to the upper one. */
sdb.paceTicks = () => {
  const ticks = [];
  for (let d = sdb.low; d < sdb.high * 1.0001; d *= 2) ticks.push(d);
  return ticks;
};

/* Ten-point steps around the values shown. */
sdb.shareRange = (values) => {
  let [low, high] = [1, 0];
  for (const list of values) for (const v of list) { low = Math.min(low, v); high = Math.max(high, v); }
  if (low > high) return [0, 1];
  const floor = Math.max(0, Math.floor(low * 10 - 0.2) / 10);
  const ceiling = Math.min(1, Math.ceil(high * 10 + 0.2) / 10);
  return [floor, Math.max(ceiling, floor + 0.2)];
};

/* A hand sets an interval for which there is an answer; any other can be typed. */
sdb.snap = (interval) => sdb.answerAt(interval)?.d ?? Number(interval.toPrecision(3));

const pen = document.createElement('canvas').getContext('2d');
const textWidth = (text) => {
  pen.font = `550 12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
};

let clips = 0;
const MOST_LABELS = 8;
const LABEL_GAP = 15;

/* Names at the right ends of their curves, pushed apart where they would overlap. */
const endLabels = (list, x, y, bottom) => {
  const placed = list.map((s) => ({ s, at: y(s.values[s.values.length - 1]) })).sort((a, b) => a.at - b.at);
  placed.forEach((p, i) => { if (i) p.at = Math.max(p.at, placed[i - 1].at + LABEL_GAP); });
  for (let i = placed.length - 1, floor = bottom; i >= 0; i -= 1, floor -= LABEL_GAP) placed[i].at = Math.min(placed[i].at, floor);
  return svg('g', {}, placed.map(({ s, at }) => svg('text', { class: 'end-label', x, y: at + 4, style: { fill: s.colour } }, s.label)));
};

/*
 * A chart of in-force accuracy over the interval. `series()` gives
 * [{name, values on the grid, colour, dash, faint, exact(interval)}]; the reader moves the interval
 * by pressing anywhere in it.
 */
sdb.paceChart = ({ title, height, series, range, labelled }) => {
  const host = h('div', { class: 'chart' });
  const margin = { left: 38, right: 14, top: 10, bottom: 30 };
  let width = 0;
  let frame = null;

  const draw = () => {
    if (!width) return;
    const list = series();
    const named = labelled && width > 700 ? list.filter((s) => !s.faint) : [];
    const direct = named.length > 0 && named.length <= MOST_LABELS;
    margin.right = direct ? Math.ceil(Math.max(...named.map((s) => textWidth(s.label)))) + 16 : 14;
    const [low, high] = range ? range() : sdb.shareRange(list.map((s) => s.values));
    const x = sdb.paceScale(margin.left, width - margin.right);
    const y = sdb.linear(low, high, height - margin.bottom, margin.top);
    const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' });
    const step = high - low > 0.5 && height < 240 ? 0.2 : 0.1;
    for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9; v += step) {
      root.append(
        svg('line', { class: 'grid', x1: margin.left, x2: width - margin.right, y1: y(v), y2: y(v) }),
        svg('text', { class: 'tick', x: margin.left - 8, y: y(v) + 4, 'text-anchor': 'end' }, String(Math.round(v * 100))),
      );
    }
    for (const d of sdb.paceTicks()) {
      root.append(
        svg('line', { class: 'grid', x1: x.at(d), x2: x.at(d), y1: height - margin.bottom, y2: height - margin.bottom + 4 }),
        svg('text', { class: 'tick', x: x.at(d), y: height - margin.bottom + 18, 'text-anchor': 'middle' }, `${sdb.short(d)} s`),
      );
    }
    clips += 1;
    const clip = `clip-${clips}`;
    root.append(svg('clipPath', { id: clip }, svg('rect', { x: margin.left, y: margin.top - 4, width: width - margin.left - margin.right, height: height - margin.top - margin.bottom + 8 })));
    const curves = svg('g', { 'clip-path': `url(#${clip})` });
    for (const s of [...list].sort((a, b) => Number(b.faint) - Number(a.faint))) {
      let d = '';
      s.values.forEach((v, i) => { d += `${i ? 'L' : 'M'}${x.at(sdb.grid[i]).toFixed(1)} ${y(v).toFixed(1)}`; });
      curves.append(svg('path', { class: s.faint ? 'curve faint' : 'curve', d, 'stroke-dasharray': s.dash || null, style: s.faint ? {} : { stroke: s.colour } }));
    }
    if (direct) root.append(endLabels(named, width - margin.right + 8, y, height - margin.bottom));
    const line = svg('line', { class: 'now', y1: margin.top, y2: height - margin.bottom });
    const dots = svg('g', {});
    const hair = svg('line', { class: 'hair', y1: margin.top, y2: height - margin.bottom, visibility: 'hidden' });
    root.append(curves, hair, line, dots);
    frame = { root, list, x, y, line, dots, hair };
    host.replaceChildren(root);
    move();
  };

  const move = () => {
    if (!frame) return;
    const at = frame.x.at(sdb.state.interval);
    frame.line.setAttribute('x1', at);
    frame.line.setAttribute('x2', at);
    frame.dots.replaceChildren(...frame.list.filter((s) => !s.faint).map((s) => (
      svg('circle', { class: 'dot', cx: at, cy: frame.y(s.exact(sdb.state.interval)), r: 3.5, style: { fill: s.colour } })
    )));
    const said = frame.list.filter((s) => !s.faint)
      .map((s) => `${s.name} ${sdb.percent(s.exact(sdb.state.interval))} %`).join(', ');
    frame.root.setAttribute('aria-label', `${title} At ${sdb.short(sdb.state.interval)} s: ${said || 'nothing shown'}.`);
  };

  const pointed = (event) => {
    const box = host.getBoundingClientRect();
    const d = frame.x.back(event.clientX - box.left);
    return sdb.snap(Math.min(Math.max(d, sdb.low), sdb.high));
  };
  const readOut = (event) => {
    if (!frame) return;
    const d = pointed(event);
    frame.hair.setAttribute('x1', frame.x.at(d));
    frame.hair.setAttribute('x2', frame.x.at(d));
    frame.hair.setAttribute('visibility', 'visible');
    const rows = frame.list.filter((s) => !s.faint)
      .map((s) => [s.exact(d), s]).sort((a, b) => b[0] - a[0]).slice(0, 12);
    sdb.tip([
      h('p', { class: 'tip-head' }, `Δ = ${sdb.short(d)} s`),
      h('ul', { class: 'tip-list' }, rows.map(([v, s]) => h('li', {},
        h('span', { class: 'tip-dot', style: { background: s.colour } }),
        h('span', { class: 'tip-name' }, s.name), h('b', {}, `${sdb.percent(v)} %`)))),
    ], event.clientX, event.clientY);
    return d;
  };
  let held = false;
  host.addEventListener('pointerdown', (event) => {
    if (!frame) return;
    held = true;
    host.setPointerCapture(event.pointerId);
    sdb.setInterval(readOut(event));
  });
  host.addEventListener('pointermove', (event) => {
    if (!frame) return;
    const d = readOut(event);
    if (held) sdb.setInterval(d);
  });
  const leave = () => { held = false; };
  host.addEventListener('pointerup', leave);
  host.addEventListener('pointercancel', leave);
  host.addEventListener('pointerleave', (event) => {
    held = false;
    if (event.pointerType !== 'touch') sdb.hideTip();
    if (frame) frame.hair.setAttribute('visibility', 'hidden');
  });
  sdb.fit(host, (w) => { width = w; draw(); });
  return { host, draw, move };
};

/* Shares over something that goes on: `series` of {item, points: [{x, y, range?, said?}]}, `marks` of [x, text]. */
sdb.lineChart = ({ width, height, marks, series, label }) => {
  const [left, right, top, bottom] = [38, 14, 8, 26];
  const all = series.flatMap((one) => one.points);
  const [low, high] = sdb.shareRange([all.map((p) => p.y), all.flatMap((p) => p.range || [])]);
  const xs = all.map((p) => p.x);
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const room = series.length > 1 || marks.length > 1 ? 12 : 0;
  const x = sdb.linear(first, last > first ? last : first + 1, left + room, width - right - room);
  const y = sdb.linear(low, high, height - bottom, top);
  const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', class: 'line-chart' });
  for (let v = low; v <= high + 1e-9; v += 0.1) {
    root.append(svg('line', { class: 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v) }), svg('text', { class: 'tick', x: left - 8, y: y(v) + 4, 'text-anchor': 'end' }, String(Math.round(100 * v))));
  }
  marks.forEach(([at, text], k) => {
    const place = marks.length > 1 && k === marks.length - 1 && x(at) > width - 60 ? 'end' : marks.length > 1 && x(at) < left + 40 ? 'start' : 'middle';
    root.append(svg('text', { class: 'tick', x: x(at), y: height - 7, 'text-anchor': place }, text));
  });
  series.forEach(({ item, points }, k) => {
    const { colour, dash } = sdb.look(item);
    const beside = series.length > 1 ? (k - (series.length - 1) / 2) * 5 : 0;
    points.filter((p) => p.range).forEach((p) => root.append(svg('line', { class: 'whiskers', x1: x(p.x) + beside, x2: x(p.x) + beside, y1: y(p.range[0]), y2: y(p.range[1]), style: { stroke: colour } })));
    root.append(svg('path', { d: points.map((p, i) => `${i ? 'L' : 'M'}${(x(p.x) + beside).toFixed(1)} ${y(p.y).toFixed(1)}`).join(''), 'stroke-dasharray': dash || null, style: { stroke: colour } }));
    points.filter((p) => p.said).forEach((p) => root.append(svg('circle', { class: 'dot', cx: x(p.x) + beside, cy: y(p.y), r: 4, style: { fill: colour } }, svg('title', {}, p.said))));
  });
  const said = all.filter((p) => p.said).slice(-40).map((p) => p.said).join('; ');
  root.setAttribute('aria-label', said ? `${label}: ${said}.` : label);
  return root;
};
