/** Renders the body of a built-in endpoint's response as JSON. A large one is rendered in slices. */

import { inShares } from '../../seats-admin/model/time-share.ts'

/** Entries up to which a list or object is rendered in one piece. */
const SMALL = 16
/** Levels of objects in a body that may be large. */
const DEPTH = 3
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

/** @param body undefined if there is none */
export async function renderedBody(body: unknown): Promise<Buffer | RenderedPieces | undefined> {
  if (body === undefined) return undefined
  if (Buffer.isBuffer(body) || !isLarge(body)) return bytesOf(body)
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

/** Whether it has many entries: a list of objects, an object, or an object in it. */
function isLarge(value: unknown, depth = DEPTH): value is object {
  if (!isObject(value)) return false
  if (Array.isArray(value)) return value.length > SMALL && isObject(value[0])
  let count = 0
  for (const name in value) if (++count > SMALL || !Object.hasOwn(value, name)) return true
  return depth > 0 && Object.values(value).some((each) => isLarge(each, depth - 1))
}

/** The text of a large value, by entries. */
function* parts(value: object, depth = DEPTH): Generator<string> {
  let before = ''
  if (Array.isArray(value)) {
    yield '['
    for (const entry of value) {
      yield before + (JSON.stringify(entry) ?? 'null')
      before = ','
    }
    yield ']'
    return
  }
  yield '{'
  for (const name of Object.keys(value)) {
    const entry: unknown = Reflect.get(value, name)
    const isOneByOne = isLarge(entry, depth - 1)
    const text = isOneByOne ? '' : JSON.stringify(entry)
    if (text === undefined) continue
    yield `${before}${JSON.stringify(name)}:${text}`
    before = ','
    if (isOneByOne) yield* parts(entry, depth - 1)
  }
  yield '}'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value)
}
