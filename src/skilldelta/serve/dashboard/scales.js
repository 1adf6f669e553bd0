// From values to places in a drawing, and the few round values that stand on an axis.

export const linear = (from, to, start, end) => (value) => start + ((value - from) / (to - from || 1)) * (end - start);

export const ticks = (from, to, wanted = 5) => {
  const rough = (to - from) / Math.max(1, wanted) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((times) => times * power).find((size) => size >= rough);
  const found = [];
  for (let at = Math.ceil(from / step - 1e-9) * step; at <= to + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
  return found;
};

// The range of some values with a margin, so that nothing stands on the edge.
export const padded = (values, share = 0.06, least = 0.01) => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = Math.max((high - low) * share, least);
  return [low - margin, high + margin];
};
