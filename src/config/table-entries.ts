/** Builds the entries of one route table and checks each of them. The router checks them against each other. */

import { EVERY_PERMISSION, isPermission } from '../../seats-admin/model/permission.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import { needsPermission, type Requirement } from '../model/route.ts'
import { tableHost } from './addresses.ts'
import { didYouMean, distinct, InvalidValue, oneOf, quote, type ValueParser } from './invalid-value.ts'
import type { RouteEntry } from './config.ts'
import { buildCors } from './cors-settings.ts'
import { canBeListed } from './methods.ts'
import type { Document } from './positioned-document.ts'
import type { Section } from './section.ts'
import { SPACE_HEADER } from '../model/space-source.ts'
import { buildSpaceSource, checkLabel } from './space-settings.ts'
import { namedRateLimits } from './rate-limit-settings.ts'
import { staticPath } from './static-path.ts'
import { durationWithin, maxBody } from './units.ts'

const timeout = durationWithin('1ms', '24d')

/** The settings of the main file that route tables refer to. */
export interface RouteContext {
  readonly upstreams: ReadonlySet<string>
  /** Ids. */
  readonly tenants: ReadonlySet<string>
  /** Ids of the tenants that have an identity provider. */
  readonly signIn: ReadonlySet<string>
  /** Bytes of a request body, on routes without a `max_body`. */
  readonly maxBody: number
  /** Accepted request methods. */
  readonly methods: ReadonlySet<string>
  readonly rateLimits: ReadonlyMap<string, RateLimit>
}

export type BuiltTable = ReturnType<typeof buildRoutes>

/** One route table. */
export function buildRoutes(document: Document, root: Section, context: RouteContext) {
  const { upstreams, tenants, methods } = context
  const upstream = root.text('upstream', oneOf(upstreams, 'an upstream of the configuration')) ?? ''
  const head = buildTableHead(root)
  const tenant = root.text('tenant', tenantIn(tenants)) ?? null
  const cors = buildCors(root)
  const ofTable = namedRateLimits(root, context.rateLimits)
  const routes = root.section('routes')
  const entries: RouteEntry[] = []
  for (const key of routes.keys()) {
    const request = readKey(key, methods)
    const limits = readValue(routes, key, context, tenant)
    // As with the space, what a route says replaces what its table says.
    const rateLimits = namedRateLimits(routes.section(key), context.rateLimits) ?? ofTable
    const place = document.place(routes.offsetOf(key))
    if (request instanceof InvalidValue) routes.faultAtKey(key, `${quote(key)} ${request.message}`)
    else {
      const space = spaceOf(routes, key, { ...request, ...limits }, head)
      warnOfUnreachableSpace(routes, key, { ...limits, ...space })
      entries.push(
        Object.freeze({
          ...request,
          ...limits,
          ...head.shared,
          ...(cors === undefined ? {} : { cors }),
          ...(rateLimits === undefined || rateLimits.length === 0 ? {} : { rateLimits }),
          ...space,
          upstream,
          place,
        }),
      )
    }
  }
  return {
    entries,
    /** For checks across tables; null: it names no host. */
    hosts: head.named,
  }
}

type TableHead = ReturnType<typeof buildTableHead>

/** The keys of a route table that concern all of its entries: hosts, prefix, space. */
function buildTableHead(root: Section) {
  if (root.has('host') && root.has('hosts'))
    root.faultAtKey('hosts', 'hosts: host and hosts exclude each other: keep one')
  const host = root.text('host', tableHost)
  const hosts = host === undefined ? root.texts('hosts', distinct(tableHost)) : [host]
  const prefix = root.text('prefix', staticPath)
  const stripPrefix = root.flag('strip_prefix')
  if (stripPrefix && !root.has('prefix'))
    root.fault('strip_prefix', 'strip_prefix: needs a prefix: add prefix, or remove strip_prefix')
  const shared = {
    ...(hosts.length === 0 ? {} : { hosts: Object.freeze(hosts) }),
    ...(prefix === undefined ? {} : { prefix }),
    ...(prefix !== undefined && stripPrefix ? { stripPrefix } : {}),
  }
  const space = buildSpaceSource(root, null)
  checkLabel(root, space, hosts)
  // The place is that of the key.
  const { place } = root.source(root.has('host') ? 'host' : 'hosts')
  return {
    /** Every entry has these. Without what the table does not say. */
    shared,
    /** For entries without a source of their own; undefined: the header `Space`. */
    space,
    named: hosts.length === 0 ? null : { hosts, place },
  }
}

/** That of the route, or else of its table. Routes without a permission need no space. */
function spaceOf(
  routes: Section,
  key: string,
  { path, requirement }: Pick<RouteEntry, 'path' | 'requirement'>,
  head: TableHead,
): Pick<RouteEntry, 'space'> {
  const params = new Set(path.split('/').flatMap((each) => PARAM.exec(each)?.[1] ?? []))
  const section = routes.section(key)
  const own = buildSpaceSource(section, params)
  checkLabel(section, own, head.shared.hosts ?? [])
  if (section.has('space')) {
    if (requirement === 'public')
      section.faultAtKey('space', 'space: not allowed on a public route, which needs none: remove it')
    return own === undefined ? {} : { space: own }
  }
  const { space } = head
  if (space === undefined || requirement === 'public') return {}
  if (space.kind !== 'param' || params.has(space.name)) return { space }
  if (needsPermission(requirement))
    routes.faultAtKey(
      key,
      `${quote(key)} has no parameter {${space.name}}, which the space of the table is read from: give the route a space of its own`,
    )
  return {}
}

/** A browser that opens a page sends no header of its own, so that each of these pages would be `space_required`. */
function warnOfUnreachableSpace(
  routes: Section,
  key: string,
  { requirement, signIn, space = SPACE_HEADER }: Pick<RouteEntry, 'requirement' | 'signIn' | 'space'>,
): void {
  if (signIn === null || !needsPermission(requirement) || space.kind !== 'header') return
  const message = `sign_in: a browser that opens the page sends no header ${space.name}, which the space is read from: say where else the space is, such as space: { fixed: main }`
  routes.section(key).warn('sign_in', 'space_unreachable', message)
}

/** As in the router's patterns. */
const PARAM = /^\{([A-Za-z][A-Za-z0-9_-]*)\}$/

/** `METHOD /path`. The router checks the path's syntax. @param known accepted methods */
function readKey(key: string, known: ReadonlySet<string>): { method: string; path: string } | InvalidValue {
  const space = key.indexOf(' ')
  const method = key.slice(0, space)
  const path = key.slice(space + 1)
  if (space <= 0 || path === '' || /\s/.test(path))
    return new InvalidValue('is not "METHOD /path" with exactly one space')
  if (method === 'CONNECT' || method === 'TRACE')
    return new InvalidValue(`never matches a request: the gateway does not serve ${method}`)
  if (method === 'ANY' || known.has(method)) return { method, path }
  const upper = method.toUpperCase()
  if (upper === 'ANY' || known.has(upper))
    return new InvalidValue(`does not have its method in upper case: write ${upper}`)
  if (!canBeListed(method))
    return new InvalidValue(
      'does not begin with one HTTP method: give each method an entry of its own, or write ANY for all',
    )
  const near = didYouMean(method, [...known, 'ANY'])
  return new InvalidValue(
    `begins with ${quote(method)}, which is not a registered HTTP method${near}: correct it, or add it to "methods" of the configuration`,
  )
}

/**
 * A faulty value becomes the strictest one: such an entry is never served and only helps to find further faults.
 *
 * @param tenant that of the table; null: it names none
 */
function readValue(
  routes: Section,
  key: string,
  { maxBody: fallback, signIn: providers, tenants }: RouteContext,
  tenant: string | null,
) {
  const short = routes.text(key, requirement)
  if (short !== undefined) {
    const limits = { requirement: short, responseTimeout: null, maxBody: fallback, signIn: null }
    return { ...limits, ...tenantOf(short, tenant) }
  }
  const section = routes.section(key)
  const needed = section.text('permission', requirement) ?? EVERY_PERMISSION
  if (needed === 'public')
    for (const each of ['sign_in', 'tenant'].filter((name) => section.has(name)))
      section.faultAtKey(each, `${each}: not allowed on a public route, which needs no credential: remove it`)
  const signIn = section.text('sign_in', oneOf(providers, 'a tenant with oidc')) ?? null
  const own = section.text('tenant', tenantIn(tenants))
  return {
    requirement: needed,
    signIn,
    responseTimeout: section.text('response_timeout', timeout) ?? null,
    maxBody: section.text('max_body', maxBody) ?? fallback,
    // A page that the users of one tenant sign in to is not for those of another.
    ...tenantOf(needed, own ?? tenant ?? signIn),
  }
}

const EVERY_TENANT = '*'

/** A public route asks for no credential. */
function tenantOf(requirement: Requirement, tenant: string | null): Pick<RouteEntry, 'tenant'> {
  return requirement === 'public' || tenant === null || tenant === EVERY_TENANT ? {} : { tenant }
}

const requirement: ValueParser<Requirement> = (text) => {
  if (text === 'public' || text === 'authenticated' || isPermission(text)) return text
  if (text.endsWith(':*') || text.startsWith('*:'))
    return new InvalidValue(
      'has a wildcard in one part, which is not supported: write <resource>:<operation>, or * alone, which needs a Seat with *',
    )
  return new InvalidValue(
    `is not a permission <resource>:<operation>, *, authenticated or public${didYouMean(text, ['authenticated', 'public'])}`,
  )
}

function tenantIn(tenants: ReadonlySet<string>): ValueParser<string> {
  const read = oneOf(tenants, 'a tenant of the configuration')
  return (text) => (text === EVERY_TENANT ? text : read(text))
}
