/**
 * Ways in which servers have read HTTP/1.1 that RFC 9112 forbids or leaves open. Each has made some proxy and its
 * upstream disagree.
 */

export interface Leniency {
  readonly name: string
  /** Line ends besides CRLF. */
  readonly lineEnd: 'CRLF' | 'LF' | 'CR'
  /** A line that begins with white space continues the previous one. */
  readonly folds: boolean
  /** White space, also before the colon, is not part of a name. */
  readonly trimsNames: boolean
  /** `_` in a name is read as `-`. */
  readonly foldsNames: boolean
  /** A line without a colon, or with an invalid name, is skipped. */
  readonly skipsBadLines: boolean
  /** NUL ends a value. */
  readonly nulEnds: boolean
  /** The reading of both Content-Length and Transfer-Encoding. */
  readonly both: 'refused' | 'length' | 'chunks'
  /** The reading of several Content-Lengths. */
  readonly lengths: 'refused' | 'first' | 'last'
  /** Length and chunk size: digits alone, or as C's and JavaScript's parsers read a text that begins with a number. */
  readonly numbers: 'digits' | 'prefix' | 'prefix in 32 bits'
  /** The values of Transfer-Encoding that mean chunks. */
  readonly coding: 'chunked' | 'last' | 'any'
  /** Ends of a chunk's extension besides CRLF. */
  readonly extensionEnd: 'CRLF' | 'LF'
  /** The bytes behind a chunk's data: CRLF, any two bytes, or none. */
  readonly chunkEnd: 'CRLF' | 'two bytes' | 'maybe'
  /** The separators of a request line. With any white space, the version may be missing. */
  readonly parting: 'one space' | 'spaces' | 'white space'
}

export const strict: Leniency = {
  name: 'RFC 9112',
  lineEnd: 'CRLF',
  folds: false,
  trimsNames: false,
  foldsNames: false,
  skipsBadLines: false,
  nulEnds: false,
  both: 'refused',
  lengths: 'refused',
  numbers: 'digits',
  coding: 'chunked',
  extensionEnd: 'CRLF',
  chunkEnd: 'CRLF',
  parting: 'one space',
}

const withOne = (name: string, more: Partial<Leniency>): Leniency => ({ ...strict, ...more, name })

/** As Node's parser reads: what it accepts beyond RFC 9112 has only one meaning, and is forwarded in the RFC's form. */
export const tolerated: Leniency = withOne('RFC 9112, spaces and other protocols’ names', {
  parting: 'spaces',
})

/** Each leniency alone, then all compatible ones together. */
export const leniencies: readonly Leniency[] = [
  strict,
  withOne('LF ends a line', { lineEnd: 'LF', extensionEnd: 'LF' }),
  withOne('CR ends a line', { lineEnd: 'CR' }),
  withOne('folded lines are joined', { folds: true }),
  withOne('names are trimmed', { trimsNames: true }),
  withOne('underscores are hyphens', { foldsNames: true }),
  withOne('bad lines are passed over', { skipsBadLines: true }),
  withOne('NUL ends a value', { nulEnds: true }),
  withOne('a length beats chunks', { both: 'length' }),
  withOne('chunks beat a length', { both: 'chunks' }),
  withOne('the first length', { lengths: 'first' }),
  withOne('the last length', { lengths: 'last' }),
  withOne('a number ends where its digits end', { numbers: 'prefix' }),
  withOne('numbers of 32 bits', { numbers: 'prefix in 32 bits' }),
  withOne('the last coding counts', { coding: 'last' }),
  withOne('any coding is chunks', { coding: 'any' }),
  withOne('LF ends an extension', { extensionEnd: 'LF' }),
  withOne('any two bytes behind a chunk', { chunkEnd: 'two bytes' }),
  withOne('nothing need be behind a chunk', { chunkEnd: 'maybe' }),
  withOne('loose request lines', { parting: 'white space' }),
  withOne('all at once, lengths first', {
    lineEnd: 'LF',
    folds: true,
    trimsNames: true,
    foldsNames: true,
    skipsBadLines: true,
    nulEnds: true,
    both: 'length',
    lengths: 'first',
    numbers: 'prefix',
    coding: 'any',
    extensionEnd: 'LF',
    chunkEnd: 'maybe',
    parting: 'white space',
  }),
  withOne('all at once, chunks first', {
    lineEnd: 'CR',
    folds: true,
    trimsNames: true,
    foldsNames: true,
    skipsBadLines: true,
    both: 'chunks',
    lengths: 'last',
    numbers: 'prefix in 32 bits',
    coding: 'last',
    extensionEnd: 'LF',
    chunkEnd: 'two bytes',
    parting: 'white space',
  }),
]
