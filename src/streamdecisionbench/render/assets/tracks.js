// Tracks: what happened over time as blocks between two moments. A window is {from, to, width}: the
// moments at its edges, and its width in pixels.

sdb.percentOf = (window, at) => (100 * (at - window.from)) / (window.to - window.from);

/* A block between two moments, or null outside the window. */
sdb.block = (window, from, to, attributes, ...children) => {
  if (to <= window.from || from >= window.to) return null;
  const [a, b] = [Math.max(sdb.percentOf(window, from), 0), Math.min(sdb.percentOf(window, to), 100)];
  const element = h('span', attributes, ...children);
  element.style.left = `${a.toFixed(3)}%`;
  element.style.width = `${(b - a).toFixed(3)}%`;
  return element;
};

/* Whether what can be seen of a block is at least this wide. */
sdb.wide = (window, from, to, pixels) => {
  const seen = Math.min(to, window.to) - Math.max(from, window.from);
  return (seen / (window.to - window.from)) * window.width >= pixels;
};

sdb.track = (...children) => h('div', { class: 'track' }, children);

sdb.laneRow = (kind, label, value, body) => h('div', { class: `lane ${kind}` },
  h('div', { class: 'lane-label' }, label), body, h('div', { class: 'lane-value num' }, value));

/* At most a dozen round numbers across the window. */
sdb.axisTrack = (window) => {
  const width = window.to - window.from;
  const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((s) => width / s <= 12) || 5000;
  const marks = [];
  for (let t = Math.ceil(window.from / step - 1e-9) * step; t <= window.to + 1e-9; t += step) {
    const mark = h('span', { class: 'axis-tick' }, sdb.short(t));
    mark.style.left = `${sdb.percentOf(window, t).toFixed(3)}%`;
    marks.push(mark);
  }
  return sdb.track(marks);
};
