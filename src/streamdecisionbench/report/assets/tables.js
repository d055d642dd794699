// Reliability, cost, and how everything was made.

sdb.reliability = () => {
  const known = sdb.ranked.filter((rec) => rec.reliability);
  if (!known.length) return;
  const of = (part, whole) => h('span', {}, sdb.count(part), h('span', { class: 'muted' }, `/${sdb.count(whole)}`));
  const live = h('div', {});
  sdb.section('reliability', 'Reliability',
    'What the replay leaves out of latency, counted with its denominators. Failed attempts, retries and waiting for dispatch cost no time in the scores above.',
    live);
  sdb.follow(['interval'], () => live.replaceChildren(sdb.table('Reliability',
    [{ label: 'Recording', text: true }, { label: 'valid / requests' }, { label: 'failed / attempts' }, { label: 'retried / requests' }, { label: 'dispatch wait s' },
      { label: `accepted at ${sdb.short(sdb.state.interval)} s` }, { label: 'superseded' }, { label: 'after the end' },
      { label: 'accepted as it ran' }, { label: 'in force as it ran %' }, { label: 'release lag max s' }],
    known.map((rec) => {
      const r = rec.reliability;
      const now = sdb.now(rec);
      const steps = now.accepted + now.late + now.superseded;
      return [h('span', {}, sdb.nameOf(rec), sdb.badges(rec)), of(r.valid_responses, r.requests), of(r.failed_attempts, r.attempts), of(r.retried_requests, r.requests), sdb.fixed(r.dispatch_wait_s, 2),
        of(now.accepted, steps), of(now.superseded, steps), of(now.late, steps),
        of(r.accepted_live, r.requests), sdb.percent(rec.physical), sdb.fixed(r.release_lag_max_s, 3)];
    }))));
};

sdb.outcomes = () => {
  if (!sdb.data.outcomes.length) return;
  sdb.section('outcomes', 'What became of the sessions',
    'What the owner of the sessions counts, beside the same sessions played by twins.',
    sdb.data.outcomes.flatMap(({ title, columns, rows, notes }) => [
      sdb.table(title, columns.map((label, i) => ({ label, text: i < 2 })), rows),
      ...notes.map((words) => h('p', { class: 'muted small' }, words))]));
};

sdb.differences = () => {
  const found = sdb.data.differences;
  if (!found) return;
  sdb.section('differences', 'States decided differently',
    `${found.causes}. ${found.summary}; latency is ignored for these. “Before” is ${found.first}, “now” ${found.second}.`,
    h('ul', {}, ...found.lost.map((line) => h('li', {}, line.trim()))),
    sdb.dataTable('Every state that differs', [], () => sdb.table('States decided differently',
      ['state', 'what', 'reference', found.first, found.second, 'evidence'].map((label) => ({ label, text: true })), found.rows)));
};

sdb.cost = () => {
  const known = sdb.ranked.filter((rec) => rec.cost);
  if (!known.length) return;
  const sum = (rec, key) => (rec.members || [rec]).reduce((total, one) => (one.cost ? total + one.cost[key] : NaN), 0);
  const counted = (value) => (Number.isNaN(value) ? '–' : sdb.count(value));
  const thousand = (rec) => { const hour = sdb.perHour(rec, 3.6); return hour === null ? '–' : sdb.fixed(hour, 3); };
  const whole = (rec) => ((rec.members || [rec]).some((one) => !one.cost || one.cost.amount === null) ? '–' : `${sdb.fixed(sum(rec, 'amount'), 2)} ${currency}`);
  const live = h('div', {});
  const dates = [...new Set(known.map((rec) => rec.cost.as_of).filter(Boolean))].sort();
  sdb.section('cost', 'Tokens and cost',
    `One pass over the scenarios of each recording, at list prices${dates.length ? ` of ${dates.join(', ')}` : ''}. A live application pays per step: the prices to compare are those of an hour at your interval and of 1000 steps. A pair pays for both its components at every step.`,
    live);
  sdb.follow(['interval', 'board'], () => live.replaceChildren(
    sdb.table('Tokens and cost', [{ label: 'Recording', text: true }, { label: 'requests' }, { label: 'input tokens' }, { label: 'cached' }, { label: 'output tokens' }, { label: 'cost of the pass' }, { label: 'per 1000 steps' }, { label: ['per hour', h('span', { class: 'of' }, atNow())] }, { label: 'note', text: true }],
      sdb.board().filter((rec) => (rec.members || [rec]).some((one) => one.cost)).map((rec) => [h('span', {}, sdb.nameOf(rec), sdb.badges(rec)),
        ...['requests', 'input_tokens', 'cached_tokens', 'output_tokens'].map((key) => counted(sum(rec, key))),
        whole(rec), thousand(rec), sdb.amount(sdb.perHour(rec)), rec.pair ? 'pair' : rec.cost.note || '']))));
};

const METHOD = [
  'Every step i is published at r_i whatever is pending, and its answer arrives at u_i = r_i + (tick/Δ)·L_i, with L_i the duration of the successful attempt plus the commit lag.',
  'An answer takes effect if its step is newer than that of the decision in force and it arrives before the end H; the decision then holds until the next one takes effect.',
  'In-force accuracy is the share of time with the right composed decision applied: A = (H − r₀)⁻¹ ∫ 1[d(t) = y*(t)] dt.',
  'Every instant has one of six classes; with O the share of time whose source is current, U_cur the accuracy there and λ the lucky share, A = O·U_cur + λ exactly.',
  'The integrated score is S = ∫ A(Δ) dΔ/Δ divided by ln(high/low) (dΔ and high − low for linear weighting), a mean over families of the mean over scenarios, in closed form.',
];

const MEANINGS = {
  current_correct: 'right answer, still current',
  outdated_correct: 'wrong answer to an old step that happens to fit now; counts as right',
  judgment: 'wrong answer to a step that is still current',
  compound: 'wrong answer, and outdated as well',
  stale: 'right answer to a step the reference has moved past',
  no_decision: 'before the first accepted answer',
};

const LIMITS = [
  'One recording is one pass: gaps of a point or two between passes can be chance.',
  sdb.data.alone
    ? 'Sessions are simulated: people in them act on the decision in force by the rules of their world.'
    : 'Scenarios are authored, open-loop timelines; applied decisions do not change what follows.',
  'The reference implements the stated rules; the score is agreement with those rules.',
  'Every instant and every consumed field weighs the same; costs that grow with an error’s duration are not modelled.',
  sdb.data.alone
    ? 'Nothing is said of other intervals: at another pace it would have been another session.'
    : 'Other intervals are replays of recorded latencies; a service under another load may be faster or slower.',
];

sdb.made = () => {
  const d = sdb.data;
  const signatures = new Map(sdb.ranked.map((rec) => [rec, h('code', { class: 'signature' })]));
  const labelled = sdb.ranked.filter((rec) => rec.notes.length);
  sdb.section('made', 'How it was made', null,
    h('div', { class: 'two' },
      h('div', {}, h('h3', {}, 'Method'), h('ol', { class: 'method' }, (d.alone ? METHOD.slice(0, -1) : METHOD).map((text) => h('li', {}, sdb.maths(text)))),
        h('h3', {}, 'Six classes of time'), h('dl', { class: 'meanings' }, d.classes.map((k) => [
          h('dt', {}, h('span', { class: `chip k-${k.key}`, 'aria-hidden': 'true' }), k.label), h('dd', {}, MEANINGS[k.key])]))),
      h('div', {}, h('h3', {}, 'Limits'), h('ul', { class: 'method' }, LIMITS.map((text) => h('li', {}, text))),
        d.notes.length > 0 && h('ul', { class: 'method' }, d.notes.map((text) => h('li', {}, text))),
        h('h3', {}, 'Suite'), h('p', {}, h('bdi', {}, d.suite.name), `: ${sdb.plural(d.scenarios.length, 'scenario')} of ${d.suite.scenarios} in ${sdb.plural(d.families.length, 'family', 'families')} on this page.`),
        h('p', { class: 'signature' }, `sha-256 ${d.suite.hash}`),
        labelled.length > 0 && [h('h3', {}, 'What to know about single recordings'), h('ul', { class: 'method' }, labelled.map((rec) => h('li', {}, h('b', {}, rec.name), ': ', rec.notes.join('; '))))])),
    h('h3', {}, 'Signatures'),
    h('p', { class: 'muted small' }, 'How each score was made, in one line to paste beside the number; the interval in it follows yours.'),
    h('ul', { class: 'signatures' }, sdb.ranked.map((rec) => h('li', {}, h('b', {}, h('bdi', {}, rec.name)), sdb.badges(rec),
      rec.models.length > 0 && h('span', { class: 'muted' }, ` served by ${rec.models.join(', ')}`), signatures.get(rec)))));
  const page = document.getElementById('page-signature');
  sdb.follow(['interval'], () => {
    signatures.forEach((code, rec) => { code.textContent = rec.signature.replace(/\binterval:\S+/, `interval:${sdb.short(sdb.state.interval)}`); });
    page.textContent = `${sdb.plural(sdb.recordings.length, 'recording')} · ${d.suite.name} · suite:${d.suite.hash.slice(0, 12)} protocol:step-anchored interval:${sdb.short(sdb.state.interval)} ${d.alone ? 'bounds:own-pace' : `bounds:${sdb.short(sdb.low)}-${sdb.short(sdb.high)} weighting:${d.weighting}`} clock:${d.clock} sdb:${d.sdb}`;
  });
};
