/** What steps return, made in a row. */
export function end<R>(steps: Iterator<void, R>): R {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
