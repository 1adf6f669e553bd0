// Numbers in words, as the report writes them: a dash is unknown, a minus is a minus.

export const DASH = "–";
const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
const minus = (text) => text.replace("-", "−");
const plus = (value, digits) => {
  const text = value.toFixed(digits);
  if (Number(text) === 0) return (0).toFixed(digits).replace(/^/, "+");
  return value > 0 ? `+${text}` : minus(text);
};

export const percent = (value, digits = 1) => (known(value) ? minus(`${(100 * value).toFixed(digits)}%`) : DASH);

export const points = (value, digits = 1) => (known(value) ? plus(100 * value, digits) : DASH);

export const signed = (value, digits = 2) => (known(value) ? plus(value, digits) : DASH);

export const decimal = (value, digits = 2) => (known(value) ? minus(value.toFixed(digits)) : DASH);

export const count = (value) => (known(value) ? minus(Math.round(value).toLocaleString("en-US")) : DASH);

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

// An interval without width says nothing: it belongs to a number that is fixed.
const isSpread = (interval) => interval && known(interval.low) && known(interval.high) && interval.low !== interval.high;

export const pointSpread = (interval) =>
  (isSpread(interval) ? `${points(interval.low)} to ${points(interval.high)}` : "");

export const percentSpread = (interval) => (isSpread(interval)
  ? `${percent(interval.low).replace("%", "")} to ${percent(interval.high).replace("%", "")}` : "");

export const decimalSpread = (interval, digits = 3) => (isSpread(interval)
  ? `${decimal(interval.low, digits)} to ${decimal(interval.high, digits)}` : "");

// How often a task was solved: "2 of 3" where outcomes are whole, else the mean.
export const solved = (mean, repetitions) => {
  const times = mean * repetitions;
  return Math.abs(times - Math.round(times)) < 1e-9 ? `${Math.round(times)} of ${repetitions}` : decimal(mean);
};

const UNITS = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3_600], ["minute", 60]];

export const age = (seconds, now = Date.now() / 1000) => {
  if (!known(seconds)) return DASH;
  const gone = Math.max(0, now - seconds);
  const unit = UNITS.find(([, size]) => gone >= size);
  return unit ? plural(Math.floor(gone / unit[1]), unit[0]) : "just now";
};

export const ago = (seconds) => {
  const words = age(seconds);
  return words === "just now" || words === DASH ? words : `${words} ago`;
};

export const moment = (seconds) => (known(seconds)
  ? new Date(1000 * seconds).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : DASH);

export const shorten = (text, width) => {
  const line = text.split(/\s+/).join(" ").trim();
  return line.length <= width ? line : `${line.slice(0, width - 1).trimEnd()}…`;
};
