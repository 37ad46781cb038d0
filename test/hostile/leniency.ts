/**
 * The ways in which servers have read HTTP/1.1 that RFC 9112 forbids or leaves open: each has parted a proxy from what
 * stood behind it somewhere.
 */

export interface Leniency {
  readonly name: string
  /** What ends a line beside CRLF. */
  readonly lineEnd: 'CRLF' | 'LF' | 'CR'
  /** A line that begins with white space goes on with the one before. */
  readonly folds: boolean
  /** White space, also before the colon, belongs to no name. */
  readonly trimsNames: boolean
  /** `_` in a name is read as `-`. */
  readonly foldsNames: boolean
  /** A line without a colon, or with an odd name, is passed over. */
  readonly skipsBadLines: boolean
  /** NUL ends a value. */
  readonly nulEnds: boolean
  /** With both Content-Length and Transfer-Encoding. */
  readonly both: 'refused' | 'length' | 'chunks'
  /** With several Content-Lengths. */
  readonly lengths: 'refused' | 'first' | 'last'
  /** Length and chunk size: digits alone, or what C's and JavaScript's readers make of a text that begins with a number. */
  readonly numbers: 'digits' | 'prefix' | 'prefix in 32 bits'
  /** Which Transfer-Encoding means chunks. */
  readonly coding: 'chunked' | 'last' | 'any'
  /** Where a chunk's extension ends beside CRLF. */
  readonly extensionEnd: 'CRLF' | 'LF'
  /** What stands behind a chunk's data: CRLF, any two bytes, or nothing that must be. */
  readonly chunkEnd: 'CRLF' | 'two bytes' | 'maybe'
  /** What parts a request line. With any white space, its version may be missing. */
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

/** As Node's parser reads: what it takes beside RFC 9112 has one meaning only, and goes upstream in the RFC's words. */
export const tolerated: Leniency = withOne('RFC 9112, spaces and other protocols’ names', {
  parting: 'spaces',
})

/** One way each, then all that go together. */
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
