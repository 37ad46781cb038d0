/** The anchors of headings, as GitHub makes them, so that links hold in a clone and on the site. */

export class Anchors {
  readonly #uses = new Map<string, number>()

  /** The anchor of the next heading of a page. A heading that repeats has a number behind its anchor. */
  next(heading: string): string {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    const uses = this.#uses.get(anchor) ?? 0
    this.#uses.set(anchor, uses + 1)
    return uses === 0 ? anchor : `${anchor}-${uses}`
  }
}
