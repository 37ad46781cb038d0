/** Faults of the configuration. A load collects all of them before it reports any. */

import { isAbsolute, relative, sep } from 'node:path'
import type { Place } from '../model/route.ts'

export interface Fault {
  readonly place: Place
  readonly message: string
}

/**
 * The codes of warnings with their meanings. A comment `# seatgate: accept CODE` above the line accepts the
 * warning; before `routes:` of a table, it accepts all warnings of this code in the table.
 */
export const WARNINGS = {
  crossing_entries:
    'some requests match two entries that give different answers, and neither entry is narrower than the other',
  wider_fallback: 'other methods of a path fall back to an entry that requires less',
  foreign_parameter: '`:name` is a static segment; a parameter is written `{name}`',
  builtin_permission:
    "an entry requires a permission of the gateway itself, so a Seat that holds it also opens the gateway's endpoints",
  public_everything: 'an entry makes public every path that no other entry matches',
  shadowed_wildcard: 'a host that one table lists gets nothing from the matching wildcard of another table',
  space_unreachable:
    'a page that browsers sign in to takes its space from a header, which a browser does not send when it opens a page; or a host of a table lacks the label that the space is read from',
  issuer_unmatched:
    'an entry of `issuers` has no `match`, so every token with its issuer and audience holds the Seats in `seats`',
  redirect_elsewhere: 'the host in the redirect URI of a sign-in is not listed in `api.hosts`',
  secret_literal: 'the file contains a secret instead of a variable',
  secret_wrapped:
    'a secret contains control characters, or has white space or quotes around it, which other programs may drop',
  ops_open: 'the operations listener, which requires no credential, accepts connections from other machines',
  everyone_trusted:
    'a list of trusted addresses, such as `trusted_proxies`, contains a network of all addresses',
  certificate_expires: 'a certificate expires within 30 days, and is in the last third of its lifetime',
  env_file_shared: 'group or others may read `.env`',
  env_file_unreadable: '`.env` is not readable',
  telemetry_variable: 'a variable `OTEL_…` cannot be read',
  store_missing: 'the store does not exist yet: the gateway creates it when it starts (`--online`)',
  store_older: 'the store has an older schema: the gateway migrates it when it starts (`--online`)',
  tool_unlisted:
    'an MCP server lists a tool, prompt or resource that no line names: its calls are refused (`--online`)',
  tool_absent: 'a line names a tool or prompt that the MCP server does not list (`--online`)',
  clock_differs:
    'the clocks of this machine and of an identity provider differ by more than a minute (`--online`)',
} as const

export type WarningCode = keyof typeof WARNINGS

/** Faults that a comment can accept too, because another machine may run the gateway. */
export const ONLINE_FAULTS = {
  store_unavailable: 'the store cannot be used: the gateway does not start',
  redis_unavailable: 'Redis cannot be used: the gateway reads Seats from the store, and no sign-in completes',
  provider_unavailable: 'an identity provider cannot be used: no sign-in of its tenant completes',
  target_unavailable: 'a target of an upstream cannot be reached, or its health check fails',
} as const

/** A fault of a server or a file that the configuration names. */
export interface OnlineFault extends Fault {
  readonly code: keyof typeof ONLINE_FAULTS
}

/** A setting that is valid but may be unintentional. */
export interface Warning extends Fault {
  readonly code: WarningCode
  /** For warnings that a table may have many of: their common text, and the subject of this one. */
  readonly about?: { readonly group: string; readonly subject: string }
}

/** `file:line:column: message`, as editors and compilers write it. */
export function formatFault(fault: Fault): string {
  return `${fault.place.file}:${fault.place.line}:${fault.place.column}: ${fault.message}`
}

/** Sorts by file, in the order of first occurrence, then by line and column. */
export function sortFaults<F extends Fault>(faults: readonly F[]): F[] {
  const order = new Map<string, number>()
  for (const { place } of faults) if (!order.has(place.file)) order.set(place.file, order.size)
  const rank = (file: string) => order.get(file) ?? 0
  return faults.toSorted(
    (a, b) =>
      rank(a.place.file) - rank(b.place.file) ||
      a.place.line - b.place.line ||
      a.place.column - b.place.column,
  )
}

/** Removes duplicates: a table may be both active and candidate. */
export function distinctFaults<F extends Fault>(faults: readonly F[]): F[] {
  return [...new Map(faults.map((each) => [formatFault(each), each])).values()]
}

export class ConfigError extends Error {
  readonly faults: readonly Fault[]
  /** Absolute paths and globs to watch for a correction. */
  readonly files: readonly string[]
  /** The state of these files before they were read; '' if there are none. */
  readonly signature: string

  constructor(faults: readonly Fault[], files: readonly string[] = [], signature = '') {
    super(faults.map(formatFault).join('\n'))
    this.name = 'ConfigError'
    this.faults = faults
    this.files = files
    this.signature = signature
  }
}

/** The path that messages show: relative if the file is inside the working directory, otherwise absolute. */
export function displayPath(path: string): string {
  const below = relative(process.cwd(), path)
  return below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? path : below
}
