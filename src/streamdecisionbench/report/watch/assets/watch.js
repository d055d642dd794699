// The live page: draws each moment the server tells of. Numbers come from the scorer, none are made here.

const RIGHT_NOW = { moment: null, streams: new Map(), chosen: null, cursor: null, row: 0, window: null, lost: false };
const places = new Map();

/* A component as the report's drawing code knows recordings: with a place, a name and its labels. */
const itemOf = (name) => {
  if (!places.has(name)) places.set(name, places.size);
  const { facts } = RIGHT_NOW.moment;
  return { name, place: places.get(name), simulated: facts.simulated, virtual: facts.virtual };
};

const sharesOf = (seconds) => {
  const all = seconds.reduce((sum, s) => sum + s, 0);
  return seconds.map((s) => (all ? s / all : 0));
};
const column = (key) => sdb.data.classes.find((kind) => kind.key === key).column;
const inForceOf = (seconds) => {
  const judged = seconds.reduce((sum, s) => sum + s, 0) - seconds[column('unjudged')];
  return judged > 0 ? (seconds[column('current_correct')] + seconds[column('outdated_correct')]) / judged : null;
};

const score = sdb.section('score', 'Score so far', sdb.data.pooled
  ? 'Every observed second counts alike. In force: correct time over judged time, by the definition of sdb logs score.'
  : 'Scenarios count alike within their family, families alike. In force: the share of observed time during which the decision in force is right, at the pace of the recording, as sdb score says it.',
sdb.classKey(), h('div', { class: 'score-rows', id: 'score-rows' }));
score.querySelector('.class-key').style.marginBottom = '12px';
const plot = h('div', { class: 'lanes', id: 'lane-plot', tabindex: 0, role: 'group', 'aria-describedby': 'lane-hint' });
const laneTitle = h('h3', { class: 'lane-title' });
const follow = h('button', { type: 'button', class: 'plain', id: 'follow', 'aria-pressed': 'true', onclick: () => choose(null) }, 'Follow the newest');
sdb.section('lanes', 'Lanes', 'What is applied, moment by moment: the reference above, below it each component’s decision in force, coloured by class.',
  h('div', { class: 'lane-tools' }, follow), laneTitle, plot,
  h('p', { class: 'muted small', id: 'lane-hint' }, 'On the keyboard: ← → move the cursor, ↑ ↓ change lane, + − zoom, Home shows all, Page Up and Page Down choose another stream.'));
sdb.section('streams', sdb.data.pooled ? 'Streams' : 'Scenarios', null, h('div', { id: 'stream-rows' }));
sdb.section('history', 'Running score', 'In-force accuracy over all that was observed, as it developed.', h('div', { class: 'chart', id: 'history-chart' }), h('p', { class: 'summary', id: 'history-text' }));
sdb.section('latency', 'Latency', 'Seconds until an answer, log scale. Box: middle half; thick: 5th to 95th percentile; thin: all; mark: median.', h('div', { id: 'latency-strips' }));

/* A decision in a block: of a recording its values alone, there is no room for the questions. */
const inBlock = (text) => (sdb.data.pooled ? text : text.replace(/(^| · )[^:·]+: /g, '$1'));
const newest = () => RIGHT_NOW.moment.order[RIGHT_NOW.moment.order.length - 1];
const shownStream = () => RIGHT_NOW.streams.get(RIGHT_NOW.chosen) || RIGHT_NOW.streams.get(newest());
const windowOf = (stream, width) => ({ from: stream.from, to: Math.max(stream.to, stream.from + 1e-9), width });
const rowValue = (stream, lane) => sdb.percent(inForceOf(lane.seconds));
const pieceBlocks = (window, lane) => lane.pieces.map(([from, to, kind, , text]) => sdb.block(window, from, to,
  { class: `piece k-${sdb.classByColumn[kind].key}` }, text && sdb.wide(window, from, to, 52) && h('span', { class: 'block-text' }, inBlock(text))));

const choose = (id) => {
  Object.assign(RIGHT_NOW, { chosen: id, cursor: null, row: 0, window: null });
  draw();
};

const drawScore = () => {
  const { moment } = RIGHT_NOW;
  document.getElementById('score-rows').replaceChildren(...moment.components.map((part) => {
    const { bar, update } = sdb.classBar();
    update(part.classes);
    const item = itemOf(part.name);
    return h('div', { class: 'score-row', 'data-component': part.name }, h('div', { class: 'who' }, sdb.swatch(item), h('bdi', {}, part.name), ...sdb.badges(item)),
      h('div', { class: 'big num' }, part.in_force === null ? '–' : `${sdb.percent(part.in_force)} %`), bar,
      h('div', { class: 'facts' }, [
        `${sdb.fixed(part.observed_s, 1)} s observed`, sdb.plural(part.streams, sdb.data.pooled ? 'stream' : 'scenario'),
        sdb.plural(part.states, 'state'), sdb.plural(part.answers, 'answer'),
        part.latency && `latency p50 ${sdb.fixed(part.latency.p50, 2)} s, p95 ${sdb.fixed(part.latency.p95, 2)} s`,
        part.classes[column('unjudged')] > 0 && `${sdb.percent(1 - part.classes[column('unjudged')])} % judged`,
      ].filter(Boolean).join(' · ')));
  }));
};

const drawLanes = () => {
  const stream = shownStream();
  if (!stream) return;
  const whole = windowOf(stream, plot.clientWidth > 700 ? plot.clientWidth - 270 : plot.clientWidth);
  const window = RIGHT_NOW.window ? { ...RIGHT_NOW.window, width: whole.width } : whole;
  laneTitle.replaceChildren(h('bdi', {}, stream.title), h('span', { class: 'muted' }, ` ${stream.id === stream.title ? '' : `${stream.id} · `}${sdb.plural(stream.states, 'state')}${stream.open ? ' · running' : ''}`));
  const reference = sdb.track(stream.reference.map(([from, to, text], i) => sdb.block(window, from, to, { class: `ref${i % 2 ? ' odd' : ''}` },
    text !== null && sdb.wide(window, from, to, 30) && h('span', { class: 'block-text' }, inBlock(text)))));
  const rows = stream.lanes.map((lane) => {
    const item = itemOf(lane.component);
    return sdb.laneRow('component', [sdb.swatch(item), sdb.nameOf(item), ...sdb.badges(item, true)], rowValue(stream, lane), sdb.track(pieceBlocks(window, lane)));
  });
  RIGHT_NOW.drawn = { window, whole, track: reference };
  plot.replaceChildren(sdb.laneRow('axis', h('span', { class: 'muted' }, 'seconds'), '', sdb.axisTrack(window)),
    sdb.laneRow('reference', 'reference', '', reference), ...rows, h('div', { class: 'lane-cursor', hidden: true }));
  plot.setAttribute('aria-label', `Lanes of ${stream.title}: ${stream.lanes.map((lane) => `${lane.component} right ${rowValue(stream, lane)} % of the time`).join(', ')}.`);
  placeCursor();
};

const drawStreams = () => {
  const { moment, streams } = RIGHT_NOW;
  const shown = shownStream();
  const host = document.getElementById('stream-rows');
  const held = document.activeElement?.dataset?.stream;
  host.replaceChildren(...[...moment.order].reverse().map((id) => streams.get(id)).filter(Boolean).map((stream) => {
    const lane = stream.lanes[0];
    const window = windowOf(stream, host.clientWidth);
    return h('button', { type: 'button', class: 'stream-row', 'data-stream': stream.id, 'aria-pressed': String(stream === shown), onclick: () => choose(stream.id) },
      sdb.laneRow('component', [h('span', { class: 'name', title: stream.title }, h('bdi', { class: 'head' }, stream.title)), stream.open && h('span', { class: 'badge part' }, 'running')],
        lane ? rowValue(stream, lane) : '', sdb.track(lane ? lane.pieces.map(([from, to, kind]) => sdb.block(window, from, to, { class: `piece k-${sdb.classByColumn[kind].key}` })) : [])));
  }));
  if (held) host.querySelector(`[data-stream="${CSS.escape(held)}"]`)?.focus();
};

const drawHistory = () => {
  const host = document.getElementById('history-chart');
  const { history } = RIGHT_NOW.moment;
  const width = host.clientWidth;
  if (!width) return;
  if (history.length < 2) {
    host.replaceChildren(h('p', { class: 'muted' }, 'Nothing has changed since this page began to watch.'));
    return;
  }
  const [height, left, bottom] = [170, 38, 24];
  const values = history.flatMap(([, now]) => Object.values(now));
  const [low, high] = sdb.shareRange([values]);
  const x = sdb.linear(history[0][0], history[history.length - 1][0] || 1, left, width - 10);
  const y = sdb.linear(low, high, height - bottom, 8);
  const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', class: 'history' });
  for (let v = low; v <= high + 1e-9; v += 0.1) {
    root.append(svg('line', { class: 'grid', x1: left, x2: width - 10, y1: y(v), y2: y(v) }), svg('text', { class: 'tick', x: left - 8, y: y(v) + 4, 'text-anchor': 'end' }, String(Math.round(100 * v))));
  }
  root.append(svg('text', { class: 'tick', x: width - 10, y: height - 6, 'text-anchor': 'end' }, `${sdb.fixed(history[history.length - 1][0], 0)} s observed`));
  for (const part of RIGHT_NOW.moment.components) {
    const { colour, dash } = sdb.look(itemOf(part.name));
    let d = '';
    history.forEach(([at, now]) => { if (part.name in now) d += `${d ? 'L' : 'M'}${x(at).toFixed(1)} ${y(now[part.name]).toFixed(1)}`; });
    root.append(svg('path', { d, 'stroke-dasharray': dash || null, style: { stroke: colour } }));
  }
  const text = RIGHT_NOW.moment.components.map((part) => `${part.name}${sdb.mark(itemOf(part.name))} ${sdb.percent(part.in_force)} %`).join(', ');
  root.setAttribute('aria-label', `In-force accuracy over observed time; now ${text}.`);
  document.getElementById('history-text').textContent = `Now: ${text}.`;
  host.replaceChildren(root);
};

const drawLatency = () => {
  const known = RIGHT_NOW.moment.components.filter((part) => part.latency).map((part) => ({ ...itemOf(part.name), latency: part.latency }));
  document.getElementById('latency-strips').replaceChildren(...(known.length ? [sdb.latencyStrips(known, 1).figure] : [h('p', { class: 'muted' }, 'No answer yet.')]));
  document.querySelectorAll('.strip-now').forEach((needle) => { needle.hidden = true; });
};

const WORDS = { waiting: 'waiting', running: 'running', complete: 'complete', incomplete: 'stopped before its end' };

const drawStatus = () => {
  const { moment, lost } = RIGHT_NOW;
  const state = lost ? 'lost' : moment.facts.status;
  const words = lost ? 'sdb watch has gone; trying again' : WORDS[state] || state;
  document.getElementById('status').replaceChildren(h('span', { class: `watch-state ${state}` }, words), h('span', {}, moment.facts.name),
    moment.facts.suite ? h('span', {}, moment.facts.suite) : '', ...sdb.badges(moment.facts),
    moment.facts.unreadable ? h('span', {}, `${sdb.plural(moment.facts.unreadable, 'line')} could not be read`) : '');
  document.title = `${moment.components[0] && moment.components[0].in_force !== null ? `${sdb.percent(moment.components[0].in_force)} % · ` : ''}${moment.facts.name} · sdb watch`;
};

const draw = () => {
  if (!RIGHT_NOW.moment) return;
  follow.setAttribute('aria-pressed', String(RIGHT_NOW.chosen === null));
  drawStatus(); drawScore(); drawLanes(); drawStreams(); drawHistory(); drawLatency();
  document.documentElement.dataset.version = String(RIGHT_NOW.moment.version);
};

const placeCursor = () => {
  const cursor = plot.querySelector('.lane-cursor');
  const { drawn } = RIGHT_NOW;
  if (!cursor || !drawn) return;
  cursor.hidden = RIGHT_NOW.cursor === null;
  plot.querySelectorAll('.lane.component').forEach((lane, i) => lane.classList.toggle('focused', RIGHT_NOW.cursor !== null && i === RIGHT_NOW.row));
  if (cursor.hidden) return;
  const box = drawn.track.getBoundingClientRect();
  const home = plot.getBoundingClientRect();
  cursor.style.left = `${box.left - home.left + (sdb.percentOf(drawn.window, RIGHT_NOW.cursor) / 100) * box.width}px`;
};

/* What is in force at the cursor, shown and spoken. */
const readOut = () => {
  const stream = shownStream();
  const lane = stream.lanes[RIGHT_NOW.row];
  const at = RIGHT_NOW.cursor;
  const right = stream.reference.find(([from, to]) => from <= at && at < to);
  const piece = lane?.pieces.find(([from, to]) => from <= at && at < to);
  const kind = piece && sdb.classByColumn[piece[2]];
  const nodes = [h('p', { class: 'tip-head' }, `${sdb.fixed(at, 2)} s`), h('p', {}, h('span', { class: 'muted' }, 'reference '), right && right[2] !== null ? right[2] : 'not known')];
  if (piece) {
    nodes.push(h('p', { class: 'tip-rec' }, h('b', {}, lane.component)), h('p', {}, h('span', { class: `chip k-${kind.key}` }), ` ${kind.label}`, piece[3] >= 0 && h('span', { class: 'muted' }, `, answer to step ${piece[3]}`)));
    if (piece[4]) nodes.push(h('p', {}, h('span', { class: 'muted' }, 'in force '), piece[4]));
  }
  const cursor = plot.querySelector('.lane-cursor').getBoundingClientRect();
  sdb.tip(nodes, cursor.left, plot.getBoundingClientRect().bottom - 20);
  sdb.say(`${sdb.fixed(at, 1)} seconds${piece ? `: ${lane.component} ${kind.label}${piece[4] ? `, ${piece[4]}` : ''}` : ''}`);
};

const moveTo = (at) => {
  const stream = shownStream();
  RIGHT_NOW.cursor = Math.min(Math.max(at, stream.from), stream.to);
  placeCursor();
  readOut();
};
const zoom = (factor) => {
  const { window, whole } = RIGHT_NOW.drawn;
  const around = RIGHT_NOW.cursor ?? (window.from + window.to) / 2;
  const width = Math.min((window.to - window.from) * factor, whole.to - whole.from);
  const from = Math.min(Math.max(around - width / 2, whole.from), whole.to - width);
  RIGHT_NOW.window = width >= whole.to - whole.from ? null : { from, to: from + width };
  drawLanes();
};
const another = (by) => {
  const { order } = RIGHT_NOW.moment;
  const at = order.indexOf(shownStream().id) + by;
  if (order[at]) choose(order[at]);
};
plot.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !RIGHT_NOW.drawn) return;
  const { window } = RIGHT_NOW.drawn;
  const step = (window.to - window.from) / (event.shiftKey ? 500 : 50);
  const here = RIGHT_NOW.cursor ?? window.from;
  const lanes = shownStream().lanes.length;
  const keys = {
    ArrowRight: () => moveTo(here + step), ArrowLeft: () => moveTo(here - step),
    ArrowDown: () => { RIGHT_NOW.row = Math.min(RIGHT_NOW.row + 1, lanes - 1); moveTo(here); },
    ArrowUp: () => { RIGHT_NOW.row = Math.max(RIGHT_NOW.row - 1, 0); moveTo(here); },
    '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2),
    Home: () => { RIGHT_NOW.window = null; drawLanes(); }, PageDown: () => another(1), PageUp: () => another(-1),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
plot.addEventListener('pointermove', (event) => {
  const box = RIGHT_NOW.drawn?.track.getBoundingClientRect();
  if (!box || event.clientX < box.left || event.clientX > box.right) return;
  const over = event.target.closest('.lane.component');
  if (over) RIGHT_NOW.row = [...plot.querySelectorAll('.lane.component')].indexOf(over);
  const { window } = RIGHT_NOW.drawn;
  moveTo(window.from + ((event.clientX - box.left) / box.width) * (window.to - window.from));
});
plot.addEventListener('pointerleave', sdb.hideTip);
plot.addEventListener('blur', sdb.hideTip);
sdb.fit(plot, () => draw());

sdb.themeButton();
document.getElementById('foot').textContent = `StreamDecisionBench ${sdb.data.sdb}. This page talks to this machine alone.`;

/* The browser connects again by itself; the first message after that tells everything anew. */
const listen = new EventSource('/events');
listen.onmessage = (message) => {
  const moment = JSON.parse(message.data);
  if (moment.full) RIGHT_NOW.streams.clear();
  moment.changed.forEach((stream) => RIGHT_NOW.streams.set(stream.id, stream));
  RIGHT_NOW.moment = moment;
  RIGHT_NOW.lost = false;
  draw();
};
listen.onerror = () => { RIGHT_NOW.lost = true; if (RIGHT_NOW.moment) drawStatus(); };
