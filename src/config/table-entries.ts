/**
 * Builds the entries of one route table and checks each by itself. The router checks them against each other.
 */

import { needsPermission } from '../model/route.ts'
import { SPACE_HEADER } from '../model/space-source.ts'
import type { RouteEntry } from './config.ts'
import { didYouMean, didYouMeanOneOf, InvalidValue, quote, type ValueParser } from './invalid-value.ts'
import { buildMcp, checkMcp } from './mcp-entries.ts'
import { canBeListed } from './methods.ts'
import type { Document } from './positioned-document.ts'
import type { Section } from './section.ts'
import { checkLabel } from './space-settings.ts'
import {
  EVERY_TENANT,
  type RouteContext,
  tableSettings,
  type TableValues as Table,
} from './table-settings.ts'

export type BuiltTable = ReturnType<typeof buildRoutes>

type Entry = Table['routes'] extends ReadonlyMap<string, infer Value> ? Value : never

/** Builds one route table. */
export function buildRoutes(document: Document, root: Section, context: RouteContext) {
  const table = tableSettings(context).of(root)
  const head = buildTableHead(root, table)
  const routes = root.section('routes')
  const entries: RouteEntry[] = []
  const built = (section: Section, key: string, request: Matched, entry: Entry): RouteEntry => {
    const ofRoute = buildRoute(section.section(key), entry, table, context.maxBody)
    const space = spaceOf(section, key, request.path, entry, head)
    warnOfUnreachableSpace(section, key, { ...ofRoute, ...space })
    const place = document.place(section.offsetOf(key))
    return Object.freeze({
      ...request,
      ...ofRoute,
      ...head.shared,
      ...space,
      upstream: table.upstream,
      place,
    })
  }
  if (root.keys().length > 0 && !root.has('routes') && !root.has('mcp'))
    document.fault(0, 'the file must have the key "routes"')
  for (const [key, entry] of table.routes) {
    const request = readKey(key, context.methods)
    if (request instanceof InvalidValue) routes.faultAtKey(key, `${quote(key)} ${request.message}`)
    else entries.push(built(routes, key, request, entry))
  }
  if (table.mcp !== null) {
    checkMcp(root, table.upstream, context)
    entries.push(...buildMcp(root.section('mcp'), table.mcp, root, built))
  }
  return {
    entries,
    /** The hosts with their place, for checks across tables; null: the table names no host. */
    hosts: head.named,
  }
}

/** The requests of an entry. */
type Matched = Pick<RouteEntry, 'method' | 'path' | 'mcp'>

type TableHead = ReturnType<typeof buildTableHead>

/** The values of a route table that all its entries have: hosts, prefix, CORS, space. */
function buildTableHead(root: Section, { host, hosts: listed, prefix, stripPrefix, cors, space }: Table) {
  if (root.has('host') && root.has('hosts'))
    root.faultAtKey('hosts', 'hosts: host and hosts exclude each other: keep one')
  const hosts = host === null ? listed : [host]
  if (stripPrefix && !root.has('prefix'))
    root.fault('strip_prefix', 'strip_prefix: needs a prefix: add prefix, or remove strip_prefix')
  checkLabel(root, space, hosts)
  const { place } = root.source(root.has('host') ? 'host' : 'hosts')
  return {
    /** The values that every entry has, without those that the table does not have. */
    shared: {
      ...(hosts.length === 0 ? {} : { hosts: Object.freeze(hosts) }),
      ...(prefix === null ? {} : { prefix }),
      ...(prefix !== null && stripPrefix ? { stripPrefix } : {}),
      ...(cors === null ? {} : { cors }),
    },
    /** For entries without a source of their own; null: the header `Space`. */
    space,
    named: hosts.length === 0 ? null : { hosts, place },
  }
}

/** The source of the route, or else of its table. Routes without a permission need no space. */
function spaceOf(
  routes: Section,
  key: string,
  path: string,
  { permission, space: own }: Entry,
  { space, shared }: TableHead,
): Pick<RouteEntry, 'space'> {
  const params = new Set(path.split('/').flatMap((each) => PARAM.exec(each)?.[1] ?? []))
  const section = routes.section(key)
  checkLabel(section, own, shared.hosts ?? [])
  if (section.has('space')) {
    if (permission === 'public')
      section.faultAtKey('space', 'space: not allowed on a public route, which needs none: remove it')
    if (own?.kind === 'param') section.section('space').text('param', paramIn(params))
    return own === null ? {} : { space: own }
  }
  if (space === null || permission === 'public') return {}
  if (space.kind !== 'param' || params.has(space.name)) return { space }
  if (needsPermission(permission))
    routes.faultAtKey(
      key,
      `${quote(key)} has no parameter {${space.name}}, which the space of the table is read from: give the route a space of its own`,
    )
  return {}
}

function paramIn(params: ReadonlySet<string>): ValueParser<string> {
  return (name) =>
    params.has(name)
      ? name
      : new InvalidValue(`is not a parameter of the pattern${didYouMeanOneOf(name, params)}`)
}

/**
 * A browser that opens a page sends no header of its own, so the gateway would refuse the page with
 * `space_required`.
 */
function warnOfUnreachableSpace(
  routes: Section,
  key: string,
  { requirement, signIn, space = SPACE_HEADER }: Pick<RouteEntry, 'requirement' | 'signIn' | 'space'>,
): void {
  if (signIn === null || !needsPermission(requirement) || space.kind !== 'header') return
  const message = `sign_in: a browser that opens the page sends no header ${space.name}, which the space is read from: say where else the space is, such as space: { fixed: main }`
  routes.section(key).warn('sign_in', 'space_unreachable', message)
}

/** A parameter in the form of the router's patterns. */
const PARAM = /^\{([A-Za-z][A-Za-z0-9_-]*)\}$/

/**
 * Reads `METHOD /path`. The router checks the syntax of the path.
 *
 * @param methods the accepted methods
 */
function readKey(key: string, methods: ReadonlySet<string>): { method: string; path: string } | InvalidValue {
  const space = key.indexOf(' ')
  const method = key.slice(0, space)
  const path = key.slice(space + 1)
  if (space <= 0 || path === '' || /\s/.test(path))
    return new InvalidValue('is not "METHOD /path" with exactly one space')
  if (method === 'CONNECT' || method === 'TRACE')
    return new InvalidValue(`never matches a request: the gateway does not serve ${method}`)
  if (method === 'ANY' || methods.has(method)) return { method, path }
  const upper = method.toUpperCase()
  if (upper === 'ANY' || methods.has(upper))
    return new InvalidValue(`does not have its method in upper case: write ${upper}`)
  if (!canBeListed(method))
    return new InvalidValue(
      'does not begin with one HTTP method: give each method an entry of its own, or write ANY for all',
    )
  const near = didYouMean(method, [...methods, 'ANY'])
  return new InvalidValue(
    `begins with ${quote(method)}, which is not a registered HTTP method${near}: correct it, or add it to "methods" of the configuration`,
  )
}

function buildRoute(section: Section, entry: Entry, table: Table, defaultMaxBody: number) {
  const { permission, signIn } = entry
  if (permission === 'public')
    for (const each of ['sign_in', 'tenant'].filter((name) => section.has(name)))
      section.faultAtKey(each, `${each}: not allowed on a public route, which needs no credential: remove it`)
  // A page with the sign-in of one tenant is not for the users of another.
  const tenant = entry.tenant ?? table.tenant ?? signIn
  // The limits of a route replace those of its table, as its space does.
  const rateLimits = entry.rateLimit ?? table.rateLimit ?? []
  return {
    requirement: permission,
    signIn,
    responseTimeout: entry.responseTimeout,
    maxBody: entry.maxBody ?? defaultMaxBody,
    // A public route needs no credential, so it has no tenant.
    ...(permission === 'public' || tenant === null || tenant === EVERY_TENANT ? {} : { tenant }),
    ...(rateLimits.length === 0 ? {} : { rateLimits }),
  }
}
