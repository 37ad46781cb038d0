/** The lines that differ between two texts. */

/**
 * @typedef {object} Line
 * @property {'added' | 'removed'} kind
 * @property {number} number of the line in its text
 * @property {string} text
 */

/** Cells of the table of common lines: above, all lines of the middle count as changed. */
const MAX_CELLS = 1_000_000

/**
 * @param {string} before
 * @param {string} after
 * @returns {Line[]} removed lines before added ones, at the same place
 */
export function lineDifferences(before, after) {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (
    end < Math.min(old.length, now.length) - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end++
  const [gone, come] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  return gone.length * come.length > MAX_CELLS
    ? [...all('removed', gone, start), ...all('added', come, start)]
    : changed(gone, come, start)
}

/** @param {string} text */
function linesOf(text) {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/**
 * @param {Line['kind']} kind
 * @param {string[]} lines
 * @param {number} start
 * @returns {Line[]}
 */
function all(kind, lines, start) {
  return lines.map((text, at) => ({ kind, number: start + at + 1, text }))
}

/**
 * By the longest common subsequence.
 *
 * @param {string[]} old
 * @param {string[]} now
 * @param {number} start the number of equal lines before them
 * @returns {Line[]}
 */
function changed(old, now, start) {
  const width = now.length + 1
  /** The common lines of the rest of both, from each pair of places. */
  const common = new Uint32Array((old.length + 1) * width)
  const at = (/** @type {number} */ i, /** @type {number} */ j) => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  /** @type {Line[]} */
  const lines = []
  for (let i = 0, j = 0; i < old.length || j < now.length;) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      i++
      j++
    } else if (j === now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1)))
      lines.push({ kind: 'removed', number: start + ++i, text: old[i - 1] ?? '' })
    else lines.push({ kind: 'added', number: start + ++j, text: now[j - 1] ?? '' })
  }
  return lines
}
