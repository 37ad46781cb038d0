/** The sources of the space of a request. */

export type SpaceSource =
  /** A header field, by its folded name: lower case, letters, digits and `-`. */
  | { readonly kind: 'header'; readonly name: string }
  /** A parameter of the route's pattern. */
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'fixed'; readonly space: string }
  /** A parameter of the query. */
  | { readonly kind: 'query'; readonly name: string }
  /** A label of the host; 1 is the first from the left. */
  | { readonly kind: 'host_label'; readonly label: number }

/** The field that names the space unless a table says otherwise. */
export const SPACE_FIELD = 'space'

export const SPACE_HEADER: SpaceSource = Object.freeze({ kind: 'header', name: SPACE_FIELD })

/** Whether the space comes from the header `Space`, as it does by default. */
export function isSpaceHeader(source: SpaceSource): boolean {
  return source.kind === 'header' && source.name === SPACE_FIELD
}

/** `param org`, for people. */
export function sourceText(source: SpaceSource): string {
  switch (source.kind) {
    case 'fixed':
      return `fixed ${source.space}`
    case 'host_label':
      return `host_label ${source.label}`
    default:
      return `${source.kind} ${source.name}`
  }
}
