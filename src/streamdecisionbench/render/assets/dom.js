// Elements. Text enters the page as text: nothing here or elsewhere parses markup from data.

const SVG = 'http://www.w3.org/2000/svg';

const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') Object.entries(value).forEach(([k, v]) => element.style.setProperty(k, v));
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child);
  }
  return element;
};

sdb.h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
sdb.svg = (tag, attributes, ...children) => (
  fill(document.createElementNS(SVG, tag), attributes, children)
);
const { h, svg } = sdb;

/* Simulated and virtual-clock results say so wherever their numbers stand. */
sdb.badges = (item, compact = false) => [
  item.simulated && h('span', { class: 'badge sim', title: 'Simulation: answers and latencies were drawn from a declared profile' }, compact ? 'sim' : 'simulation'),
  item.virtual && h('span', { class: 'badge virt', title: 'Virtual clock: service times measured one by one, queueing simulated' }, compact ? 'virtual' : 'virtual clock'),
].filter(Boolean);

sdb.endName = (item, name = item.name) => sdb.brief(name, 16) + (item.simulated ? ' · sim' : '') + (item.virtual ? ' · virtual' : '');

sdb.mark = (item) => (item.simulated ? ' (simulation)' : '') + (item.virtual ? ' (virtual clock)' : '');

const TAIL = 9;

/* A name that shortens in its middle where room is short: names differ at their ends. */
sdb.nameOf = (rec) => {
  const signs = [...rec.name];
  const cut = signs.length > 2 * TAIL ? signs.length - TAIL : signs.length;
  return h('span', { class: 'name', title: rec.name }, h('bdi', { class: 'head' }, signs.slice(0, cut).join('')),
    cut < signs.length && h('bdi', { class: 'tail' }, signs.slice(cut).join('')));
};

/* Text with its indices set as such: U_cur, r_i. */
sdb.maths = (text) => text.split(/([A-Za-zλ]_[a-z]+)/).map((part) => {
  const found = /^(.)_([a-z]+)$/.exec(part);
  return found ? h('span', { class: 'symbol' }, found[1], h('sub', {}, found[2])) : part;
});

const DASHES = sdb.data.dashes;

/* Colour and dash of a recording, as in the figures; a pair is drawn in ink. */
sdb.look = (rec) => (rec.pair
  ? { colour: 'var(--ink)', dash: DASHES[rec.order % DASHES.length] }
  : { colour: `var(--line-${rec.place % DASHES.length})`, dash: DASHES[(rec.place + Math.floor(rec.place / DASHES.length)) % DASHES.length] });

sdb.swatch = (rec) => {
  const { colour, dash } = sdb.look(rec);
  return svg('svg', { class: 'swatch', width: 26, height: 10, 'aria-hidden': 'true' },
    svg('line', { x1: 1, x2: 25, y1: 5, y2: 5, 'stroke-width': 2.5, 'stroke-dasharray': dash || null, style: { stroke: colour } }));
};

sdb.classByColumn = [];
sdb.data.classes.forEach((kind) => {
  sdb.classByColumn[kind.column] = kind;
  document.documentElement.style.setProperty(`--k-${kind.key}`, kind.colour);
});

sdb.classKey = () => h('ul', { class: 'class-key', 'aria-label': 'Classes of time' },
  sdb.data.classes.filter((kind) => !kind.never).map((kind) => h('li', {},
    h('span', { class: `chip k-${kind.key}`, 'aria-hidden': 'true' }), kind.label)));

/* The six classes as one bar. */
sdb.classBar = () => {
  const parts = sdb.data.classes.map((kind) => h('span', { class: `k-${kind.key}` }));
  const bar = h('div', { class: 'class-bar', role: 'img' }, parts);
  const update = (classes) => {
    sdb.data.classes.forEach((kind, i) => {
      const share = Math.max(classes[kind.column], 0);
      parts[i].style.setProperty('flex-grow', String(share));
      parts[i].hidden = share < 5e-5;
      parts[i].title = `${kind.label} ${sdb.percent(share)} %`;
    });
    bar.setAttribute('aria-label', sdb.data.classes
      .map((kind) => `${kind.label} ${sdb.percent(classes[kind.column])} %`).join(', '));
  };
  return { bar, update };
};

sdb.section = (id, title, lead, ...children) => {
  const section = h('section', { id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title` }, title), lead && h('p', { class: 'section-lead' }, lead), children);
  document.getElementById('main').append(section);
  document.getElementById('contents').append(h('li', {}, h('a', { href: `#${id}` }, title)));
  return section;
};

/* A scrolling table: `columns` of {label, text?: left-aligned}, `rows` of cells (text or nodes). */
sdb.table = (caption, columns, rows) => h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
  h('table', {}, h('caption', { class: 'sr' }, caption),
    h('thead', {}, h('tr', {}, columns.map((c) => h('th', { scope: 'col', class: c.text ? 'text' : null, title: c.hint }, c.label)))),
    h('tbody', {}, rows.map((cells) => h('tr', {}, cells.map((cell, i) => (
      i === 0 ? h('th', { scope: 'row', class: 'text' }, cell) : h('td', { class: columns[i].text ? 'text' : null }, cell)
    )))))));

/* A closed data table that is made when opened and follows the state while open. */
sdb.dataTable = (label, topics, build) => {
  const body = h('div', {});
  const details = h('details', { class: 'data' }, h('summary', {}, label), body);
  const update = () => { if (details.open) body.replaceChildren(build()); };
  details.addEventListener('toggle', update);
  details.refresh = update;
  sdb.follow(topics, update);
  return details;
};

const tip = document.getElementById('tip');

let tipSince = 0;

sdb.tip = (nodes, x, y) => {
  tipSince = performance.now();
  tip.replaceChildren(...nodes);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const room = 14;
  const left = x + room + box.width < window.innerWidth - 8 ? x + room : x - room - box.width;
  const top = y + room + box.height < window.innerHeight - 8 ? y + room : y - room - box.height;
  tip.style.left = `${Math.max(8, Math.min(left, window.innerWidth - box.width - 8))}px`;
  tip.style.top = `${Math.max(8, top)}px`;
};
sdb.hideTip = () => { tip.hidden = true; };
document.addEventListener('keydown', (event) => { if (event.key === 'Escape') sdb.hideTip(); });
// What was read out a moment ago stays: a new interval makes the browser scroll to keep its place, and
// a tap elsewhere takes the focus from where one was before.
sdb.leaveTip = () => { if (performance.now() - tipSince > 500) sdb.hideTip(); };
window.addEventListener('scroll', sdb.leaveTip, { passive: true });

const say = document.getElementById('say');
sdb.say = (text) => { say.textContent = text; };

/* Draws now and whenever the width of `host` changes. */
sdb.fit = (host, draw) => {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.floor(host.clientWidth);
    if (width > 0 && width !== last) { last = width; draw(width); }
  }).observe(host);
};
