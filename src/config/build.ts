/** The main file, its structure checked, into what the gateway runs on: every default filled in. Used by load.ts only. */

import { resolve } from 'node:path'
import { address, cidr, clash } from './addresses.ts'
import { Complaint, confidential } from './complaint.ts'
import type { Address, Config, StoreConfig } from './config.ts'
import type { Section } from './section.ts'
import { buildDefaultTenant, buildTenants } from './tenants.ts'
import { durationWithin } from './units.ts'
import { refuseUnservedSettings, refuseUnservedStore } from './unserved.ts'
import { buildUpstreams } from './upstreams.ts'

const LISTEN: Address = Object.freeze({ host: '0.0.0.0', port: 8080 })
const OPS: Address = Object.freeze({ host: '127.0.0.1', port: 9090 })
const STORE = 'sqlite:./data/seatgate.db'

/** All of a configuration but what it takes other files to know. */
export type Settings = Omit<Config, 'file' | 'files' | 'signature' | 'routes'>

/** @param folder what relative paths are relative to */
export function buildSettings(root: Section, folder: string): Settings {
  refuseUnservedSettings(root)
  const tenants = buildTenants(root)
  return {
    ...buildAddresses(root),
    store: buildStore(root, folder),
    defaultTenant: buildDefaultTenant(root, tenants),
    tenants,
    upstreams: buildUpstreams(root),
    trustedProxies: Object.freeze(root.texts('trusted_proxies', cidr)),
    drain: root.text('drain', durationWithin('0s', '24d')) ?? 30_000,
  }
}

function buildAddresses(root: Section): { listen: Address; ops: Address } {
  const listen = root.text('listen', address) ?? LISTEN
  const ops = root.text('ops', address) ?? OPS
  if (clash(listen, ops)) {
    const key = root.has('ops') ? 'ops' : 'listen'
    root.fault(key, `${key}: listen and ops can not share an address and port`)
  }
  return { listen, ops }
}

function buildStore(root: Section, folder: string): StoreConfig {
  const read = (text: string) => sqlitePath(text, folder)
  const path = refuseUnservedStore(root) ? undefined : root.text('store', confidential(read))
  return Object.freeze({ kind: 'sqlite', path: path ?? resolve(folder, STORE.slice('sqlite:'.length)) })
}

/** @returns absolute */
function sqlitePath(text: string, folder: string): string | Complaint {
  if (!text.startsWith('sqlite:')) return new Complaint('is not sqlite:PATH')
  const path = text.slice('sqlite:'.length)
  if (path === '' || path.endsWith('/')) return new Complaint('names no file after "sqlite:"')
  if (path.startsWith(':'))
    return new Complaint('is not a file: a store in memory would lose what was answered with 2xx')
  if (/^\/\/[^/]/.test(path))
    return new Complaint('begins with two slashes: write sqlite:relative/path or sqlite:/absolute/path')
  if (/[\0-\x1f\x7f?#]/.test(path)) return new Complaint('has a control character, ? or # in its path')
  return resolve(folder, path)
}
