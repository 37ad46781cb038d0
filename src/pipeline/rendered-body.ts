/** Renders the body of a built-in endpoint's response as JSON. A large one is rendered in slices. */

import { inShares } from '../../seats-admin/model/time-share.ts'

/** Entries of a list or map that are rendered in a row. */
const SMALL = 16
/** Characters of a piece. */
const PIECE = 64 * 1024

/** The pieces of a large body. */
export class RenderedPieces {
  readonly pieces: readonly Buffer[]

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces
  }
}

/** @param body JSON, or bytes that are sent as they are */
export function bytesOf(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
}

/** @param body undefined: there is none */
export async function renderedBody(body: unknown): Promise<Buffer | RenderedPieces | undefined> {
  if (body === undefined) return undefined
  if (Buffer.isBuffer(body) || !isObject(body) || !Object.values(body).some(isLong)) return bytesOf(body)
  return new RenderedPieces(await inShares(rendered(body)))
}

function* rendered(body: object): Generator<void, Buffer[]> {
  const pieces: Buffer[] = []
  let text = ''
  for (const part of parts(body)) {
    text += part
    if (text.length < PIECE) continue
    pieces.push(Buffer.from(text))
    text = ''
    yield
  }
  pieces.push(Buffer.from(text))
  return pieces
}

/** The entries of long members are rendered one by one. */
function* parts(body: object): Generator<string> {
  let before = '{'
  for (const [name, value] of Object.entries(body)) {
    const isSmall = !isLong(value)
    const text = isSmall ? JSON.stringify(value) : ''
    if (text === undefined) continue
    yield `${before}${JSON.stringify(name)}:${text}`
    before = ','
    if (!isSmall) yield* entries(value)
  }
  yield before === '{' ? '{}' : '}'
}

function* entries(value: object): Generator<string> {
  const isList = Array.isArray(value)
  let before = isList ? '[' : '{'
  for (const [name, entry] of isList ? value.entries() : Object.entries(value)) {
    const text = JSON.stringify(entry) ?? (isList ? 'null' : null)
    if (text === null) continue
    yield before + (isList ? text : `${JSON.stringify(name)}:${text}`)
    before = ','
  }
  yield isList ? ']' : '}'
}

function isLong(value: unknown): value is object {
  return isObject(value) && (Array.isArray(value) ? value : Object.keys(value)).length > SMALL
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value)
}
