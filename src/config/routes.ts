/** One route table into entries, each checked by itself. The router checks them against each other. */

import { EVERY_PERMISSION, isPermission } from '../../seats-admin/model/permission.ts'
import type { Requirement } from '../model/route.ts'
import { InvalidValue, didYouMean, quote, type Read } from './invalid-value.ts'
import { DEFAULT_LIMITS, type RouteEntry } from './config.ts'
import type { Document } from './document.ts'
import type { Section } from './section.ts'
import { durationWithin, maxBody } from './units.ts'

const timeout = durationWithin('1ms', '24d')

/** What a table takes from the main file; null when that is faulty. */
export interface Known {
  readonly upstreams: ReadonlySet<string>
  /** Tenants that have an identity provider. */
  readonly signIn: ReadonlySet<string>
  /** Of routes that have none of their own. */
  readonly maxBody: number
  /** That requests may have. */
  readonly methods: ReadonlySet<string>
}

export function buildRoutes(document: Document, root: Section, known: Known | null): RouteEntry[] {
  const upstreams = known?.upstreams ?? null
  const named = (text: string) =>
    upstreams === null || upstreams.has(text)
      ? text
      : new InvalidValue(`names no upstream of the configuration${didYouMean(text, upstreams)}`)
  const upstream = root.text('upstream', named) ?? ''
  const routes = root.section('routes')
  const entries: RouteEntry[] = []
  for (const key of routes.keys()) {
    const request = readKey(key, known?.methods ?? null)
    const limits = readValue(routes, key, known)
    if (request instanceof InvalidValue) routes.faultOfKey(key, `${quote(key)} ${request.message}`)
    else
      entries.push(
        Object.freeze({ ...request, ...limits, upstream, place: document.place(routes.offsetOf(key)) }),
      )
  }
  return entries
}

/**
 * `METHOD /path`. The path's own syntax is the router's.
 *
 * @param known null: which methods there are can't be told
 */
function readKey(
  key: string,
  known: ReadonlySet<string> | null,
): { method: string; path: string } | InvalidValue {
  const space = key.indexOf(' ')
  const method = key.slice(0, space)
  const path = key.slice(space + 1)
  if (space <= 0 || path === '' || /\s/.test(path))
    return new InvalidValue('is not "METHOD /path" with exactly one space')
  if (method === 'CONNECT' || method === 'TRACE')
    return new InvalidValue(`can be reached by no request: the gateway does not serve ${method}`)
  if (known === null || method === 'ANY' || known.has(method)) return { method, path }
  const upper = method.toUpperCase()
  if (upper === 'ANY' || known.has(upper))
    return new InvalidValue(`has its method in lower case: write ${upper}`)
  const near = didYouMean(method, [...known, 'ANY'])
  return new InvalidValue(
    `does not begin with an HTTP method or ANY${near}: "methods" of the configuration lists those beyond IANA's registry`,
  )
}

type Limits = Pick<RouteEntry, 'requirement' | 'responseTimeout' | 'maxBody' | 'signIn'>

/** A faulty value leaves what is strictest: the entry only serves to find further faults. */
function readValue(routes: Section, key: string, known: Known | null): Limits {
  const fallback = known?.maxBody ?? DEFAULT_LIMITS.maxBody
  const short = routes.text(key, requirement)
  if (short !== undefined)
    return { requirement: short, responseTimeout: null, maxBody: fallback, signIn: null }
  const section = routes.section(key)
  const needed = section.text('permission', requirement) ?? EVERY_PERMISSION
  if (needed === 'public' && section.has('sign_in'))
    section.faultOfKey('sign_in', 'sign_in: a public route asks nobody who they are')
  return {
    requirement: needed,
    signIn: section.text('sign_in', tenantOf(known)) ?? null,
    responseTimeout: section.text('response_timeout', timeout) ?? null,
    maxBody: section.text('max_body', maxBody) ?? fallback,
  }
}

const requirement: Read<Requirement> = (text) => {
  if (text === 'public' || text === 'authenticated' || isPermission(text)) return text
  if (text.endsWith(':*') || text.startsWith('*:'))
    return new InvalidValue(
      'reads like a wildcard and is none: write <resource>:<operation>, or * alone, which only a Seat with * holds',
    )
  return new InvalidValue(
    `is not a permission <resource>:<operation>, *, authenticated or public${didYouMean(text, ['authenticated', 'public'])}`,
  )
}

function tenantOf(known: Known | null): Read<string> {
  return (text) =>
    known === null || known.signIn.has(text)
      ? text
      : new InvalidValue(`names no tenant with oidc${didYouMean(text, known.signIn)}`)
}
