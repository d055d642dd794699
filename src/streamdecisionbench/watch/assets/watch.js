// The live page: draws each moment the server tells of. Numbers come from the scorer, none are made here.

const RIGHT_NOW = { moment: null, streams: new Map(), chosen: null, lost: false, why: false };
const places = new Map();

/* A component as the report's drawing code knows recordings: with a place, a name and its labels. */
const itemOf = (name) => {
  if (!places.has(name)) places.set(name, places.size);
  const { facts } = RIGHT_NOW.moment;
  return { name, place: places.get(name), simulated: facts.simulated, virtual: facts.virtual };
};

const score = sdb.section('score', 'Score so far', sdb.data.pooled
  ? 'Every observed second counts alike. In force: correct time over judged time, by the definition of sdb logs score.'
  : 'Scenarios count alike within their family, families alike. In force: the share of observed time during which the decision in force is right, at the pace of the recording, as sdb score says it.',
sdb.classKey(), h('div', { class: 'score-rows', id: 'score-rows' }));
score.querySelector('.class-key').style.marginBottom = '12px';
/* A decision in a block: of a recording its values alone, there is no room for the questions. */
const inBlock = (text) => (sdb.data.pooled ? text : text.replace(/(^| · )[^:·]+: /g, '$1'));
const { title: laneTitle, plot, hint, show } = sdb.streamLanes({
  label: (lane) => { const item = itemOf(lane.component); return [sdb.swatch(item), sdb.nameOf(item), ...sdb.badges(item, true)]; },
  inBlock,
  ids: true,
  another: (by) => {
    const { order } = RIGHT_NOW.moment;
    const at = order.indexOf(shownStream().id) + by;
    if (order[at]) choose(order[at]);
  },
});
const follow = h('button', { type: 'button', class: 'plain', id: 'follow', 'aria-pressed': 'true', onclick: () => choose(null) }, 'Follow the newest');
sdb.section('lanes', 'Lanes', 'What is applied, moment by moment: the reference above, below it each component’s decision in force, coloured by class.',
  h('div', { class: 'lane-tools' }, follow), laneTitle, plot, hint);
sdb.section('streams', sdb.data.pooled ? 'Streams' : 'Scenarios', null, h('div', { id: 'stream-rows' }));
sdb.section('history', 'Running score', 'In-force accuracy over all that was observed, as it developed.', h('div', { class: 'chart', id: 'history-chart' }), h('p', { class: 'summary', id: 'history-text' }));
sdb.section('latency', 'Latency', 'Seconds until an answer, log scale. Box: middle half; thick: 5th to 95th percentile; thin: all; mark: median.', h('div', { id: 'latency-strips' }));

const newest = () => RIGHT_NOW.moment.order[RIGHT_NOW.moment.order.length - 1];
const shownStream = () => RIGHT_NOW.streams.get(RIGHT_NOW.chosen) || RIGHT_NOW.streams.get(newest());
const choose = (id) => {
  RIGHT_NOW.chosen = id;
  draw();
};

const drawScore = () => {
  const { moment } = RIGHT_NOW;
  document.getElementById('score-rows').replaceChildren(...moment.components.map((part) => sdb.scoreRow(itemOf(part.name), part.in_force, null, part.classes, [
    `${sdb.fixed(part.observed_s, 1)} s observed`, sdb.plural(part.streams, sdb.data.pooled ? 'stream' : 'scenario'),
    sdb.plural(part.states, 'state'), sdb.plural(part.answers, 'answer'),
    part.latency && `latency p50 ${sdb.fixed(part.latency.p50, 2)} s, p95 ${sdb.fixed(part.latency.p95, 2)} s`,
    part.classes[column('unjudged')] > 0 && `${sdb.percent(1 - part.classes[column('unjudged')])} % judged`,
  ])));
};

const drawLanes = () => show(shownStream());

const drawStreams = () => {
  const { moment, streams } = RIGHT_NOW;
  const shown = shownStream();
  const host = document.getElementById('stream-rows');
  const held = document.activeElement?.dataset?.stream;
  host.replaceChildren(...[...moment.order].reverse().map((id) => streams.get(id)).filter(Boolean).map((stream) => sdb.streamRow(stream, host.clientWidth,
    { pressed: stream === shown, onclick: () => choose(stream.id), note: stream.open && 'running' })));
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
  const end = history[history.length - 1][0];
  const series = RIGHT_NOW.moment.components.map((part) => ({ item: itemOf(part.name), points: history.filter(([, now]) => part.name in now).map(([at, now]) => ({ x: at, y: now[part.name] })) }));
  const text = RIGHT_NOW.moment.components.map((part) => `${part.name}${sdb.mark(itemOf(part.name))} ${sdb.percent(part.in_force)} %`).join(', ');
  document.getElementById('history-text').textContent = `Now: ${text}.`;
  host.replaceChildren(sdb.lineChart({ width, height: 170, marks: [[end, `${sdb.fixed(end, 0)} s observed`]], series, label: `In-force accuracy over observed time; now ${text}.` }));
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
    moment.facts.unreadable ? h('details', { class: 'unreadable', open: RIGHT_NOW.why, ontoggle: (event) => { RIGHT_NOW.why = event.target.open; } },
      h('summary', {}, `${sdb.plural(moment.facts.unreadable, 'line')} could not be read`), h('ul', {}, moment.facts.why.map((why) => h('li', {}, why)))) : '');
  document.title = `${moment.components[0] && moment.components[0].in_force !== null ? `${sdb.percent(moment.components[0].in_force)} % · ` : ''}${moment.facts.name} · sdb watch`;
};

const draw = () => {
  if (!RIGHT_NOW.moment) return;
  follow.setAttribute('aria-pressed', String(RIGHT_NOW.chosen === null));
  drawStatus(); drawScore(); drawLanes(); drawStreams(); drawHistory(); drawLatency();
  document.documentElement.dataset.version = String(RIGHT_NOW.moment.version);
};

sdb.fit(plot, () => draw());

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
