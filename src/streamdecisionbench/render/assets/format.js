// How numbers are printed: digit for digit as the scorer's tables do (analysis/numbers.py).

/* Rounds half up on the value's first ten decimals; nothing to show is an en dash. */
sdb.fixed = (value, digits = 1) => {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const tens = BigInt(Math.abs(value).toFixed(10).replace('.', ''));
  const unit = 10n ** BigInt(10 - digits);
  const rounded = (tens + unit / 2n) / unit;
  const text = rounded.toString().padStart(digits + 1, '0');
  const sign = value < 0 && rounded > 0n ? '-' : '';
  return sign + (digits ? `${text.slice(0, -digits)}.${text.slice(-digits)}` : text);
};

/* A share in [0, 1] as a percentage without its sign. */
sdb.percent = (share, digits = 1) =>
  sdb.fixed(share === null || share === undefined ? null : 100 * share, digits);

/* Six significant digits without trailing zeros: Python's %g for the numbers that occur here. */
sdb.short = (value) => String(Number(value.toPrecision(6)));

/* Seconds with the digits that matter: two decimals, or two digits where those would be zeros. */
sdb.seconds = (value) => (value > 0 && value < 0.01 ? String(Number(value.toPrecision(2))) : sdb.fixed(value, 2));

sdb.count = (value) => value === null || value === undefined ? '–' : String(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');

sdb.plural = (n, one, many = `${one}s`) => `${sdb.count(n)} ${n === 1 ? one : many}`;

/* A long name by its two ends, which is where names differ. */
sdb.brief = (name, most) => {
  const signs = [...name];
  if (signs.length <= most) return name;
  const tail = Math.floor((most - 1) * 0.6);
  return `${signs.slice(0, most - 1 - tail).join('')}…${signs.slice(-tail).join('')}`;
};

/* A composed decision in one line. */
sdb.decisionText = (decision) => decision.map(([, value]) => value).join(' · ');
sdb.decisionLong = (decision) => decision.map(([q, value]) => `${q}: ${value}`).join(', ');
