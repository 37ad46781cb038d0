/** The Forwarded field (RFC 7239): what each proxy says of the hop before it. */

import { isLongList, MAX_LIST_ELEMENTS } from '../http/wire/fields.ts'

/** What one proxy says; '' for what it does not say. */
export interface ForwardedElement {
  /** The value of `for`, with its brackets and port if it has them. */
  readonly for: string
  readonly proto: string
  readonly host: string
  /** The text as received, without the white space around it. */
  readonly text: string
}

/** A pair `token=token` or `token="quoted"` (RFC 7239, section 4), and what ends it. No quoted-pairs. */
const PAIR = (() => {
  const token = "[\\w!#$%&'*+.^`|~-]+"
  return new RegExp(`[ \\t]*(?:(${token})=(?:(${token})|"([\\t !#-\\[\\]-~]*)")[ \\t]*)?([;,]|$)`, 'y')
})()

/**
 * The number of pairs in all elements, empty ones included: four of each are registered (RFC 7239, section
 * 5). A client may send many more.
 */
const MAX_PAIRS = 4 * MAX_LIST_ELEMENTS

/**
 * None has a comma. With one, in quotes, the lists made of these values would have more elements than there
 * were proxies.
 */
const READ: ReadonlySet<string> = new Set(['for', 'proto', 'host'])

/**
 * The elements in order, without the empty ones (RFC 9110, section 5.6.1); null if they are malformed, or
 * more than any chain of proxies has.
 */
export function forwardedElements(value: string): readonly ForwardedElement[] | null {
  if (isLongList(value)) return null
  const elements: ForwardedElement[] = []
  let start = 0
  let pairs = new Map<string, string>()
  let read = 0
  for (let at = 0; at < value.length;) {
    if (++read > MAX_PAIRS) return null
    PAIR.lastIndex = at
    const match = PAIR.exec(value)
    if (match === null) return null
    const [whole, name, token, quoted = '', end] = match
    const folded = name?.toLowerCase()
    if (folded !== undefined) {
      if (pairs.has(folded) || (READ.has(folded) && quoted.includes(','))) return null
      pairs.set(folded, token ?? quoted)
    }
    at += whole.length
    if (end === ';') continue
    const text = value.slice(start, end === '' ? at : at - 1).trim()
    if (pairs.size > 0) elements.push(elementOf(pairs, text))
    pairs = new Map()
    start = at
  }
  return elements
}

function elementOf(pairs: ReadonlyMap<string, string>, text: string): ForwardedElement {
  const get = (name: string) => pairs.get(name) ?? ''
  return { for: get('for'), proto: get('proto'), host: get('host'), text }
}
