/** `store:`, the store of Seats and API keys. */

import { resolve } from 'node:path'
import { namesSeveralHosts, parseUrl } from '../../seats-admin/store/postgres/url.ts'
import { InvalidValue } from './invalid-value.ts'
import type { Section } from './section.ts'
import { text } from './setting.ts'

/** `path` is absolute. `url` contains credentials, so no output shows it. */
export type StoreConfig =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** The URL may have a password, so messages do not show it. */
function storeUrl(text: string, { folder }: Section): StoreConfig | InvalidValue {
  if (!/^postgres(ql)?:/i.test(text)) {
    const path = sqlitePath(text, folder)
    return path instanceof InvalidValue ? path : Object.freeze({ kind: 'sqlite', path })
  }
  const url = URL.canParse(text) ? new URL(text) : null
  const isWhole = url !== null && url.hostname !== '' && url.pathname.length >= 2
  if (!isWhole && !namesSeveralHosts(text))
    return new InvalidValue('is not postgres://user:password@host:port/database')
  return Object.freeze({ kind: 'postgres', url: text })
}

/** @returns the fault without a credential; null: the URL is valid */
function postgresFault(url: string): string | null {
  try {
    parseUrl(url)
    return null
  } catch (cause) {
    return cause instanceof Error ? cause.message : 'the URL is not valid'
  }
}

function sqlitePath(text: string, folder: string): string | InvalidValue {
  if (!text.startsWith('sqlite:'))
    return new InvalidValue('is not sqlite:PATH or postgres://user:password@host:port/database')
  const path = text.slice('sqlite:'.length)
  if (path === '' || path.endsWith('/'))
    return new InvalidValue(
      'names no file after "sqlite:": write sqlite:PATH, such as sqlite:./data/seatgate.db',
    )
  if (path.startsWith(':'))
    return new InvalidValue(
      'names no file: write sqlite:PATH, as a store in memory would lose writes that were answered with 2xx',
    )
  if (/^\/\/[^/]/.test(path))
    return new InvalidValue('begins with two slashes: write sqlite:relative/path or sqlite:/absolute/path')
  if (/[\0-\x1f\x7f?#]/.test(path))
    return new InvalidValue('has a control character, ? or # in its path: remove it')
  return resolve(folder, path)
}

export const store = text(
  'The store of Seats and API keys. sqlite:PATH is a file on this machine, relative to this file. postgres://user:password@host:port/database serves a fleet. The parameters sslmode (disable, which is the default, require, verify-ca, verify-full), sslrootcert (a file, or system), sslcert and sslkey have the same meaning as in libpq. Specify one host, which must lead to the primary, also after a failover; see fleet.md. target_session_attrs may be primary, read-write or any.',
  storeUrl,
  {
    privacy: 'confidential',
    pattern: '^(sqlite:|postgres(ql)?://)',
    writeOnly: true,
    default: 'sqlite:./data/seatgate.db',
    examples: ['sqlite:./data/seatgate.db', 'postgres://seatgate:${PGPASSWORD}@db.example/seatgate'],
  },
)

/** Checks the parameters of the URL for PostgreSQL. */
export function checkStore(store: StoreConfig, root: Section): void {
  const fault = store.kind === 'postgres' ? postgresFault(store.url) : null
  if (fault !== null) root.fault('store', `store: ${fault}`)
}
