// Numbers for people: SI prefixes, round steps for axes and scale bars.

const PREFIXES = new Map([[-12, "p"], [-9, "n"], [-6, "µ"], [-3, "m"], [0, ""], [3, "k"], [6, "M"], [9, "G"]]);
const PREFIXED_UNITS = /^(s|m|m\/s|J|W|N)$/; // a milliradian is nobody's friend

// The prefix under which a quantity of this size reads well: { factor, unit }.
function prefixed(size, unit) {
  if (!PREFIXED_UNITS.test(unit) || !(size > 0) || !Number.isFinite(size)) return { factor: 1, unit };
  const exponent = Math.min(Math.max(3 * Math.floor(Math.log10(size * 1.0000001) / 3), -12), 9);
  if (exponent === 0 || (unit === "s" && exponent > 0)) return { factor: 1, unit };
  return { factor: 10 ** -exponent, unit: PREFIXES.get(exponent) + unit };
}

// The largest of 1, 2, 5 times a power of ten that is not above `limit`.
function roundBelow(limit) {
  const power = 10 ** Math.floor(Math.log10(limit));
  const digit = limit / power;
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

// Round marks inside [low, high], about `wanted` of them.
function marks(low, high, wanted) {
  const step = roundBelow((high - low) / Math.max(wanted - 1, 1)) || 1;
  const found = [];
  for (let mark = Math.ceil(low / step - 1e-9); mark * step <= high + 1e-9 * step; mark++) found.push(mark * step);
  return { step, found };
}

// How many decimals a step has.
function decimals(step) {
  return Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
}

// So many decimals, and no minus sign before nothing.
function fixed(value, digits) {
  const text = value.toFixed(digits);
  return signed(Number(text) === 0 ? (0).toFixed(digits) : text);
}

// A mark with just the digits its step needs, so that two marks never read alike; a true minus sign.
function markText(value, step) {
  if (value === 0 || (Math.abs(value) < 1e5 && decimals(step) <= 4)) return fixed(value, decimals(step));
  const digits = Math.floor(Math.log10(Math.abs(value)) + 1e-9) - Math.floor(Math.log10(step) + 1e-9);
  return signed(value.toExponential(Math.min(Math.max(digits, 0), 15)));
}

function quantity(value, unit, digits = 4) {
  const scale = prefixed(Math.abs(value), unit);
  const number = value * scale.factor;
  const text = number !== 0 && (Math.abs(number) >= 1e5 || Math.abs(number) < 1e-3)
    ? number.toExponential(digits - 2)
    : Number(number.toPrecision(digits)).toString();
  return signed(text) + (scale.unit ? `\u00a0${scale.unit}` : "");
}

function signed(text) {
  return text.replace(/-/g, "\u2212");
}
