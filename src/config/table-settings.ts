/** The keys of a route table. */

import { EVERY_PERMISSION, isPermission } from '../../seats-admin/model/permission.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { Requirement } from '../model/route.ts'
import { tableHost } from './addresses.ts'
import { cors } from './cors-settings.ts'
import { didYouMean, InvalidValue, oneOf, type ValueParser } from './invalid-value.ts'
import { mcpServer } from './mcp-settings.ts'
import { namedRateLimits } from './rate-limit-settings.ts'
import {
  duration,
  file,
  flag,
  list,
  map,
  mapOf,
  optional,
  required,
  type Setting,
  setting,
  text,
} from './setting.ts'
import { spaceSource } from './space-settings.ts'
import { staticPath } from './static-path.ts'
import { maxBody } from './units.ts'

/** The settings of the main file that route tables refer to. */
export interface RouteContext {
  readonly upstreams: ReadonlySet<string>
  /** The ids of the tenants. */
  readonly tenants: ReadonlySet<string>
  /** The ids of the tenants that have an identity provider. */
  readonly signIn: ReadonlySet<string>
  /** The maximum bytes of a request body on routes without a `max_body`. */
  readonly maxBody: number
  /** The upstreams that get the client's Authorization header. */
  readonly passAuthorization: ReadonlySet<string>
  /** The accepted request methods. */
  readonly methods: ReadonlySet<string>
  readonly rateLimits: ReadonlyMap<string, RateLimit>
}

/** The declaration of a table. Its readers accept the names in the context. */
export function tableSettings(context: RouteContext) {
  return file(
    'Seatgate route table',
    'The requests that one service accepts, and the permission that each route needs. A request that matches no entry is never forwarded.',
    {
      upstream: required(
        text('Name of the service in gateway.config.yaml.', oneOf(context.upstreams, UPSTREAM), {
          placeholder: '',
          examples: ['trainings'],
        }),
      ),
      cors: optional(cors),
      host: text(
        'The host that the table serves, compared without its port; *.example.com stands for one label. Default: the hosts that no other table lists.',
        tableHost,
        { examples: ['api.example.com'] },
      ),
      hosts: list('Several hosts, instead of host.', tableHost, {
        distinct: true,
        minItems: 1,
        items: { examples: ['api.example.com', '*.api.example.com'] },
      }),
      prefix: text('Static segments that come before every pattern of the table.', staticPath, {
        pattern: '^/',
        examples: ['/code'],
      }),
      stripPrefix: flag('Remove the prefix from the path that is forwarded.'),
      tenant: text(
        'The tenant of this table. Callers of other tenants are refused. Default: no caller is refused because of its tenant.',
        tenantIn(context.tenants),
        { examples: ['acme'] },
      ),
      space: optional(spaceSource("Source of a request's space. Default: the header Space.")),
      rateLimit: namedRateLimits(
        'The rate limits of all routes of the table, by their names in rate_limits of gateway.config.yaml. A request takes a token from each.',
        context.rateLimits,
      ),
      routes: mapOf(
        entry(context),
        'METHOD /path: permission. {name} matches one segment; a final * matches the rest of the path; ANY matches every method except TRACE and CONNECT. A table without mcp needs it.',
        { propertyNames: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+ /\\S*$" } },
      ),
      mcp: optional(mcpServer(mcpLine(context))),
    },
  )
}

/** The built values of a table. */
export type TableValues = ReturnType<ReturnType<typeof tableSettings>['of']>

const UPSTREAM = 'an upstream of the configuration'

const PERMISSION = '^([A-Za-z0-9._-]+:[A-Za-z0-9._-]+|\\*|authenticated|public)$'

/** The keys of an entry that a line of an MCP server may have too. */
function decidingFields(context: RouteContext) {
  return {
    permission: required(
      text(
        'resource:operation, * (only for callers that hold *), authenticated (any valid credential) or public (no credential).',
        requirement,
        {
          title: 'permission',
          pattern: PERMISSION,
          placeholder: EVERY_PERMISSION,
          examples: ['trainings:read'],
        },
      ),
    ),
    tenant: text(
      'The tenant of this route. Callers of other tenants are refused; * refuses no caller. Default: as in the table, or else the tenant of sign_in.',
      tenantIn(context.tenants),
      { examples: ['acme'] },
    ),
    space: optional(spaceSource("Source of a request's space. Default: as in the table.")),
    responseTimeout: duration(
      "How long the upstream may be silent before its response begins. Default: the upstream's.",
      '1ms',
      '24d',
      { examples: ['5m'] },
    ),
    rateLimit: namedRateLimits(
      'The rate limits of the route, instead of those of its table; [] for none.',
      context.rateLimits,
    ),
  }
}

/** The value of a route. */
function entry(context: RouteContext) {
  const long = map('', {
    ...decidingFields(context),
    signIn: text(
      'The tenant whose identity provider signs in browsers without credentials. The gateway redirects them there. Other clients get the 401.',
      oneOf(context.signIn, 'a tenant with oidc'),
      { examples: ['acme'] },
    ),
    maxBody: text(
      'Maximum bytes in a request body, such as 64KiB or 1GiB, or unlimited. Default: limits.max_body.',
      maxBody,
      { pattern: '^((0|[1-9][0-9]*)(B|KiB|MiB|GiB|TiB)|unlimited)$', examples: ['10MiB'] },
    ),
  })
  return shortOrLong(long, { ...NOTHING, signIn: null, maxBody: null })
}

/** The value of a line. */
function mcpLine(context: RouteContext) {
  return shortOrLong(map('', decidingFields(context)), NOTHING)
}

const NOTHING = { tenant: null, space: null, responseTimeout: null, rateLimit: null }

/** A permission, or a map. For a faulty permission, the strictest one replaces it. */
function shortOrLong<T extends { readonly permission: Requirement }>(
  long: Setting<T>,
  nothing: Omit<NoInfer<T>, 'permission'>,
): Setting<T> {
  const short = text('A permission, or a map of permission and limits.', requirement, {
    pattern: PERMISSION,
    examples: ['trainings:read'],
  })
  const schema = { ...long.schema, ...short.schema, type: ['string', 'object'] }
  return setting(schema, (routes, key) => {
    const permission = short.read(routes, key)
    return permission === null ? long.read(routes, key) : ({ ...nothing, permission } as T)
  })
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

export const EVERY_TENANT = '*'

function tenantIn(tenants: ReadonlySet<string>): ValueParser<string> {
  const read = oneOf(tenants, 'a tenant of the configuration')
  return (text) => (text === EVERY_TENANT ? text : read(text))
}

/** The declaration without names of the main file, for the JSON Schema. */
export const routesFile = tableSettings({
  upstreams: new Set(),
  tenants: new Set(),
  signIn: new Set(),
  maxBody: 0,
  passAuthorization: new Set(),
  methods: new Set(),
  rateLimits: new Map(),
})
