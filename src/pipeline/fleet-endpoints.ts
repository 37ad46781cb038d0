/** The built-in endpoints about the gateways themselves, not about what they store. */

import {
  type AdminEndpoint,
  type AdminRefusal,
  endpoint,
  type FleetView,
  type InstanceSecrets,
  tablesPlaceOf,
} from '../../seats-admin/index.ts'
import { CHANGE_KINDS } from '../../seats-admin/model/change.ts'
import {
  count,
  flag,
  list,
  named,
  object,
  oneOf,
  orNull,
  type Schema,
  text,
  time,
} from '../../seats-admin/model/json-schema.ts'

export interface FleetDeps {
  /** The fleet with the changes of a tenant. Rejects if they can't be read. */
  readonly fleet: (tenant: string) => Promise<FleetView>
  /** The secrets of a tenant at each instance. Rejects if the list of instances can't be read. */
  readonly fleetSecrets: (tenant: string) => Promise<readonly InstanceSecrets[]>
}

const outsideAdminSpace: AdminRefusal = {
  refused: 'permission_denied',
  detail: "The fleet is shown only to callers in the tenant's admin space: send it as Space.",
}

const OLDER = 'Null if the instance has an older version.'

const refusal = named(
  'RefusedReload',
  'The latest reload of the configuration, which was refused: the previous configuration stays active.',
  object({
    at: time('By the clock of the instance.'),
    faults: count('The number of faults.'),
    first: text('The first of them, with its place.', {
      examples: ['routes/main.yaml:4:3: the entry is a duplicate of line 3'],
    }),
  }),
)

const instance = named(
  'FleetInstance',
  'A gateway of the fleet.',
  object({
    id: text('Random at each start.'),
    name: text('Its host and process id.'),
    started_at: orNull(time(`When it started, by its own clock. ${OLDER}`)),
    version: orNull(text(`Its version of Seatgate. ${OLDER}`, { examples: ['1.2.0'] })),
    seq: count(
      'The newest change that all its processes have applied, as of its last reading. The instance that answers reads them for the answer.',
    ),
    age_ms: count(
      'Milliseconds since it last read the changes. A healthy instance reads them four times a second. After 1,000 ms it decides nothing from memory.',
    ),
    hash: orNull(
      text(`The hash of the route tables by which it decides. ${OLDER}`, { examples: ['3f2a8c01d9e4'] }),
    ),
    tables: orNull(
      oneOf(['files', 'store'], `Where its route tables are: in its files, or in the store. ${OLDER}`),
    ),
    refused: orNull(refusal),
    checks_files: flag(
      'Whether it reads its files again before it decides, once it has been frozen or cut off. An older version does not.',
    ),
    beat: count('The number of its latest sign of life, which it counts itself. 0 for a store in a file.'),
    url: orNull(
      text('Where others reach it: `advertise` of its configuration. Null if that is not set.', {
        examples: ['http://10.0.0.7:8080'],
      }),
    ),
  }),
)

const milliseconds = (description: string): Schema<number> => ({ type: 'number', minimum: 0, description })

const change = named(
  'FleetChange',
  'A change that every instance applies.',
  object({
    seq: count('Its number. All tenants share the numbers.'),
    at: time('When it was committed or, if another process wrote it, when this instance learned of it.'),
    kind: oneOf(
      CHANGE_KINDS,
      'What changed. Creating, renaming or deleting a Seat changes `seat` and `seat-name`. A push of route tables changes `tables-candidate`, on which no decision depends, and then `tables`.',
    ),
    effective_ms: orNull(
      milliseconds(
        'Milliseconds from the commit until every instance decided by it, as this instance measured. Null if it was written by another instance or a command, or is not effective everywhere yet.',
      ),
    ),
  }),
)

const fleetAnswer = object({
  data: list(instance, 'The instances, in the order of their start.'),
  changes: list(
    change,
    'The newest changes of the tenant that this instance has seen since its start, newest first, at most 200.',
  ),
  redis: orNull(
    oneOf(
      ['ok', 'degraded'],
      'Whether Redis accepts reads and writes and delivers messages, as the instance that answers sees it: `redis` of its `/readyz`. Null if the configuration has no Redis.',
    ),
  ),
})

export function fleetEndpoint({ fleet }: FleetDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/fleet',
    permission: 'fleet:read',
    operation: 'readFleet',
    query: {},
    summary: 'Lists the gateways on this store, and how long changes took until they held everywhere.',
    details: 'In the admin space alone. An instance whose `age_ms` is over 1,000 is frozen, cut off or gone.',
    answers: { 200: fleetAnswer },
    codes: [],
    async handle({ caller: { tenant, scope } }) {
      // The instances serve all tenants and spaces.
      if (!scope.admin) return outsideAdminSpace
      const { instances, changes, redis } = await fleet(tenant)
      const data = instances.map((each) => ({
        id: each.id,
        name: each.name,
        started_at: each.startedAt === null ? null : new Date(each.startedAt).toISOString(),
        version: each.version,
        seq: each.applied,
        age_ms: Math.round(each.age),
        hash: each.config,
        tables: tablesPlaceOf(each),
        refused: each.refused,
        checks_files: each.checksFiles,
        beat: each.beat,
        url: each.url,
      }))
      return { status: 200, body: { data, changes: changes.map(changeView), redis } } as const
    },
  })
}

const FINGERPRINT =
  'The first 12 hexadecimal digits of HMAC-SHA-256 with the secret as its key and the text `seatgate fingerprint`.'

const instanceSecrets = named(
  'InstanceSecrets',
  "The secrets of the tenant's tokens at a gateway.",
  object({
    id: text('That of the instance in the list of the fleet.'),
    name: text('Its host and process id.'),
    age_ms: count('As in the list of the fleet.'),
    beat: count('As in the list of the fleet.'),
    signs: orNull(
      text(
        `The secret that signs. ${FINGERPRINT} Null if the instance has no such tenant or an older version.`,
        {
          examples: ['3f2a8c01d9e4'],
        },
      ),
    ),
    accepts: orNull(
      list(
        text(FINGERPRINT, { examples: ['3f2a8c01d9e4'] }),
        'The secrets whose tokens it accepts, the one that signs first. Null if the instance has an older version.',
      ),
    ),
  }),
)

const secretsAnswer = object({
  data: list(
    object({
      tenant: text('The tenant of the caller.'),
      instances: list(instanceSecrets, 'The instances on the list of the store, and the one that answers.'),
    }),
    'One entry.',
  ),
})

export function fleetSecretsEndpoint({ fleetSecrets }: Pick<FleetDeps, 'fleetSecrets'>): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/fleet/secrets',
    permission: 'fleet:read',
    operation: 'readFleetSecrets',
    query: {},
    summary: "Lists which secrets of the tenant's tokens each gateway accepts, and which one signs.",
    details: 'In the admin space alone. Secrets are shown by fingerprint, never by value.',
    answers: { 200: secretsAnswer },
    codes: [],
    async handle({ caller: { tenant, scope } }) {
      if (!scope.admin) return outsideAdminSpace
      const instances = (await fleetSecrets(tenant)).map((each) => secretsView(each, tenant))
      return { status: 200, body: { data: [{ tenant, instances }] } } as const
    },
  })
}

function secretsView({ id, name, age, beat, secrets }: InstanceSecrets, tenant: string) {
  const accepts = secrets && (Object.hasOwn(secrets, tenant) ? [...(secrets[tenant] ?? [])] : [])
  return { id, name, age_ms: Math.round(age), beat, signs: accepts?.[0] ?? null, accepts }
}

function changeView({ seq, kind, at, effective }: FleetView['changes'][number]) {
  const effective_ms = effective === null ? null : Math.round(effective * 1000) / 1000
  return { seq, at: new Date(at).toISOString(), kind, effective_ms }
}

/**
 * A route that does nothing and is decided like any other: `seatgate verify` asks it while it changes Seats,
 * so that the answer depends on the decision alone.
 */
export const canaryEndpoint: AdminEndpoint = endpoint({
  method: 'GET',
  path: '/v1/canary',
  permission: 'canary:read',
  operation: 'askCanary',
  summary: 'Answers each caller that has the permission. Reads and changes nothing.',
  details: 'A program that asks it while a Seat changes sees when the change takes effect.',
  answers: { 204: null },
  codes: [],
  handle: async () => ({ status: 204 }),
})
