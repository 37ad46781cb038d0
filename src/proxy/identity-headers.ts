/**
 * The identity of the caller for the upstream: `x-seatgate-*`. Only this file writes these fields, after the
 * client's own were removed.
 */

import { FieldLines } from '../http/wire/field-lines.ts'
import { detachedText } from '../lib/heap-size.ts'
import { RecentValues } from '../lib/recent-values.ts'
import { type ConsideredSeat, type Decision, haveSameVerdicts } from '../model/decision.ts'
import type { Principal } from '../model/principal.ts'

type Identified = Pick<Decision, 'principal' | 'space' | 'permission' | 'seats'>

interface CachedLines extends Omit<Identified, 'principal'> {
  readonly lines: FieldLines
}

/** The lines of the latest request of a caller, as the next one is mostly for the same. */
const latest = new RecentValues<Principal, CachedLines>()
/** Characters. Longer lines are made for each request, and so are those about more Seats. */
const MAX_KNOWN = 1024
const MAX_SEATS = 16

/** The lines of {@link identity}. */
export function identityLines(decision: Identified): FieldLines {
  const { principal, space, permission, seats } = decision
  if (principal === null || permission === 'public') return FieldLines.none
  const previous = latest.get(principal)
  const isKnown =
    previous?.space === space && previous.permission === permission && haveSameVerdicts(previous.seats, seats)
  if (isKnown) return previous.lines
  const lines = FieldLines.of(identity(decision))
  if (lines.writable && lines.text.length <= MAX_KNOWN && seats.length <= MAX_SEATS) {
    // A slice of the request would retain the whole request with its credentials. The check has made a flat
    // text of the lines, without slices.
    const ownSpace = space === null ? null : detachedText(space)
    latest.set(principal, { space: ownSpace, permission, seats, lines })
  }
  return lines
}

/** Name, value, … A value that doesn't exist has no header. */
export function identity({ principal, space, permission, seats }: Identified): string[] {
  const headers: string[] = []
  if (principal === null || permission === 'public') return headers
  headers.push('x-seatgate-auth', principal.method)
  headers.push('x-seatgate-tenant', headerText(principal.tenant))
  headers.push('x-seatgate-user', headerText(principal.user))
  if (principal.email !== null) headers.push('x-seatgate-email', headerText(principal.email))
  if (space === null || permission === null || permission === 'authenticated') return headers
  headers.push('x-seatgate-space', headerText(space))
  headers.push('x-seatgate-permission', headerText(permission))
  const granting = seats.filter(({ verdict }) => verdict === 'grants')
  headers.push('x-seatgate-seats', seatNames(granting))
  headers.push('x-seatgate-seats-count', String(granting.length))
  return headers
}

/** All fields that {@link identity} may write, in the order of answers. */
export const IDENTITY_FIELDS = [
  'x-seatgate-tenant',
  'x-seatgate-user',
  'x-seatgate-email',
  'x-seatgate-space',
  'x-seatgate-seats',
  'x-seatgate-seats-count',
  'x-seatgate-permission',
  'x-seatgate-auth',
] as const

/**
 * The same for the answer to another proxy: name, value, … of all fields. A value that doesn't exist is
 * empty, so that the proxy overwrites the client's own field of that name.
 */
export function wholeIdentity(decision: Identified): string[] {
  const present = new Map<string, string>()
  const lines = identity(decision)
  // By position: the text of a value may be the name of a field.
  for (let i = 0; i < lines.length; i += 2) present.set(lines[i] ?? '', lines[i + 1] ?? '')
  return IDENTITY_FIELDS.flatMap((name) => [name, present.get(name) ?? ''])
}

/** Bytes of names in `x-seatgate-seats`: servers take 8 KiB of header section. A name has 2.3 KiB at most. */
const MOST_NAMES = 4096

/** The first that granted, as many as there is room for. */
function seatNames(seats: readonly ConsideredSeat[]): string {
  let text = ''
  for (const [at, { name }] of seats.entries()) {
    const encoded = SEAT_PLAIN.test(name) ? name : encodeName(name)
    const length = text.length + (at === 0 ? 0 : 1) + encoded.length
    if (length > MOST_NAMES) break
    text += at === 0 ? encoded : `,${encoded}`
  }
  return text
}

/** The engine's own encoder takes a fiftieth of the time of {@link encode}. It throws on a lone surrogate. */
function encodeName(name: string): string {
  return name.isWellFormed() ? encodeURIComponent(name) : encode(name, SEAT_PLAIN)
}

/** The characters that `encodeURIComponent` does not change. */
const SEAT_PLAIN = /^[\w.!~*'()-]+$/
/** Visible ASCII but `%`. */
const TEXT_PLAIN = /^[!-$&-~]+$/

/**
 * Any text as a header value: visible ASCII but `%` stays, everything else (spaces, controls, `%`, all beyond
 * ASCII) is percent-encoded as UTF-8. Decoding gives back the text, so no two users look alike.
 */
export function headerText(text: string): string {
  return TEXT_PLAIN.test(text) ? text : encode(text, TEXT_PLAIN)
}

function encode(text: string, plain: RegExp): string {
  const pieces: string[] = []
  for (const character of text)
    pieces.push(plain.test(character) ? character : percent(character.codePointAt(0) ?? 0))
  // One text, where `+` makes a tree of them that takes many times as much.
  return pieces.join('')
}

/**
 * UTF-8 (RFC 3629), and by the same arithmetic for a lone surrogate, which JSON can hold:
 * `encodeURIComponent` throws on it, and a replacement character would make two such users one.
 */
function percent(code: number): string {
  if (code < 0x80) return hex(code)
  if (code < 0x800) return hex(0xc0 | (code >> 6)) + hex(tail(code))
  if (code < 0x10000) return hex(0xe0 | (code >> 12)) + hex(tail(code >> 6)) + hex(tail(code))
  return hex(0xf0 | (code >> 18)) + hex(tail(code >> 12)) + hex(tail(code >> 6)) + hex(tail(code))
}

const tail = (bits: number) => 0x80 | (bits & 0x3f)
const hex = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
