/**
 * The caller, as told to the upstream: `x-seatgate-*`. Only ever written here, after the client's own were dropped.
 */

import { type ConsideredSeat, type Decision, startsWithSeats } from '../model/decision.ts'
import { type CallerIdentity, identityOf, sameIdentity } from '../model/principal.ts'
import { FieldLines } from '../http/wire/field-lines.ts'

/** All of a decision that an upstream is told. */
interface Caller extends Pick<Decision, 'space' | 'permission' | 'seats'> {
  readonly principal: CallerIdentity | null
}

/** Who asked with the same header lines: mostly it is one caller, whose routes ask for a few permissions. */
export class Callers {
  readonly #known: { caller: Caller; readonly lines: FieldLines }[] = []

  lines(caller: Caller): FieldLines {
    for (const known of this.#known)
      if (sameCaller(known.caller, caller)) {
        // The very lists that it comes with from now on are seen to be the same at a glance.
        if (known.caller.seats !== caller.seats) known.caller = callerOf(caller)
        return known.lines
      }
    const lines = new FieldLines(identity(caller)).prepared()
    // A connection keeps one long list at most.
    const room = caller.seats.length > LONG ? 0 : MOST - 1
    while (this.#known.length > room) this.#known.shift()
    this.#known.push({ caller: callerOf(caller), lines })
    return lines
  }
}

/** Not the decision: its path would keep all of its request in memory. */
function callerOf({ principal, space, permission, seats }: Caller): Caller {
  return { principal: identityOf(principal), space, permission, seats }
}

/** Remembered of the same header lines; the oldest goes first. */
const MOST = 8
/** A list of more Seats than these is long. */
const LONG = 20

function sameCaller(one: Caller, other: Caller): boolean {
  return (
    one.space === other.space &&
    one.permission === other.permission &&
    sameIdentity(one.principal, other.principal) &&
    one.seats.length === other.seats.length &&
    startsWithSeats(other.seats, one.seats)
  )
}

/** Name, value, … A value that doesn't exist has no header. */
export function identity({ principal, space, permission, seats }: Caller): string[] {
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

/** As `encodeURIComponent` leaves them. */
const SEAT_PLAIN = /^[\w.!~*'()-]+$/
/** Visible ASCII but `%`. */
const TEXT_PLAIN = /^[!-$&-~]+$/

/**
 * Any text as a header value: visible ASCII but `%` stays, everything else (spaces, controls, `%`, all beyond ASCII)
 * is percent-encoded as UTF-8. Decoding gives back the text, so no two users look alike.
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
 * UTF-8 (RFC 3629), and by the same arithmetic for a lone surrogate, which JSON can hold: `encodeURIComponent` throws
 * on it, and a replacement character would make two such users one.
 */
function percent(code: number): string {
  if (code < 0x80) return hex(code)
  if (code < 0x800) return hex(0xc0 | (code >> 6)) + hex(tail(code))
  if (code < 0x10000) return hex(0xe0 | (code >> 12)) + hex(tail(code >> 6)) + hex(tail(code))
  return hex(0xf0 | (code >> 18)) + hex(tail(code >> 12)) + hex(tail(code >> 6)) + hex(tail(code))
}

const tail = (bits: number) => 0x80 | (bits & 0x3f)
const hex = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
