/** `POST /v1/seats/plan` and `POST /v1/seats/apply`: the Seats of a tenant as a file has them. */

import { type Committed, committedOf } from '../model/change.ts'
import {
  flag,
  list,
  mapOf,
  orNull,
  type Schema,
  strictObject,
  text,
  textItem,
  type ValueOf,
} from '../model/json-schema.ts'
import {
  type AdminFault,
  type AdminRefusal,
  inputInvalid,
  isRefusal,
  MAX_FAULTS,
  pointerTo,
} from '../model/refusal.ts'
import type { WantedSeats } from '../model/seat.ts'
import { countsExactly } from '../model/seats-from.ts'
import { type AdminDeps, type AdminEndpoint, type Caller, endpoint, writerOf } from './admin-endpoint.ts'
import { TimeShare } from '../model/time-share.ts'
import { isUlid } from '../model/ulid.ts'
import { FORMATS } from './formats.ts'
import { fieldsOfSeat } from './seat-endpoints.ts'
import { appliedAnswer, planAnswer, shownApplied, shownPlan } from './seats-file-views.ts'
import { type Checker, checker, MAX_ECHO } from './validate-body.ts'
import {
  administrationWarnings,
  pendingOf,
  together,
  unaskedPermissions,
  type Warning,
  warningsAfter,
} from './warnings.ts'

/** Bytes of the body: 5,000 Seats take about one MiB. */
const MAX_BODY = 8 * 1024 * 1024
/**
 * The limits of the body: a Seat has four members with its name, and one in `versions`. Its size bounds the
 * elements.
 */
const JSON_LIMITS = { members: 60_000, elements: MAX_BODY / 4 }

/** A Seat of a file, under its name. */
export const seatOfFileSchema = strictObject(
  { spaces: fieldsOfSeat.spaces, permissions: fieldsOfSeat.permissions },
  { was: text('The former name of the Seat, to rename it.', { format: 'name', examples: ['Reader'] }) },
)

/**
 * The number of Seats of a file. Its description has the number in words: Intl would take 25 ms of each
 * start.
 */
const MAX_SEATS = 10_000

const fieldsOfFile = {
  tenant: text('The tenant of the Seats. The request is refused if the caller belongs to another tenant.', {
    examples: ['acme'],
  }),
  prune: flag('Deletes the Seats that the caller may see and that `seats` does not list.'),
}

/** Names have the format of names of Seats. */
const seatsOfFile = mapOf(
  seatOfFileSchema,
  'Seats by name, at most 10,000, each with `spaces`, `permissions` and, to rename it, `was`.',
  {
    maxProperties: MAX_SEATS,
  },
)

/** The number of keys, and of users, that one plan may end. */
const MAX_ENDED = 1000

export const planSchema = strictObject(
  { seats: seatsOfFile },
  {
    ...fieldsOfFile,
    revoke: list(
      textItem({ examples: ['01KAJ0Z1V5Q8T2C0W7M3E9R4XD'] }),
      'Ids of API keys that are to be revoked as well. They only affect the warning `nobody_administers`.',
      { maxItems: MAX_ENDED },
    ),
    block: list(
      textItem({ examples: ['alice'] }),
      'The `sub` of each user who is to be blocked as well. They only affect the warning `nobody_administers`.',
      { maxItems: MAX_ENDED },
    ),
  },
)

export const applySchema = strictObject(
  { seats: seatsOfFile },
  {
    ...fieldsOfFile,
    versions: mapOf(
      orNull(textItem({ examples: ['"3-d41d8cd98f00"'] })),
      'The `versions` that a plan returned: nothing is written unless exactly the changes of that plan are due, at these versions.',
    ),
  },
)

type Body = ValueOf<typeof planSchema>

const checkSeat = checker(seatOfFileSchema)
const planBody = fileChecker(planSchema)
const applyBody = fileChecker(applySchema)

export function seatsFileEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/seats/plan',
      permission: 'seats:read',
      operation: 'planSeats',
      summary: 'Shows what a file of Seats would change and who is affected. Changes nothing.',
      details:
        'The answer lists each change with the users, API keys and routes that it affects, and the versions on which the plan is based.',
      body: planBody,
      maxBody: MAX_BODY,
      json: JSON_LIMITS,
      answers: { 200: planAnswer },
      codes: ['grant_exceeds_own'],
      async handle({ body, caller }) {
        const wanted = wantedOf(body, caller)
        if (isRefusal(wanted)) return wanted
        const { tenant, scope } = caller
        const reader = { tenant, scope, now: deps.now(), seatBytes: deps.seatBytes }
        const plan = await deps.store.planSeats(reader, wanted)
        if (isRefusal(plan)) return plan
        const { revoke = [], block = [] } = body
        const pending = { ...pendingOf(plan, scope.space), revoked: revoke.filter(isUlid), blocked: block }
        const unadministered = await administrationWarnings(caller, deps, pending)
        const warnings = together(unadministered, await warningsOf(wanted, deps))
        const exact = countsExactly(deps.seatsFrom?.(tenant) ?? null)
        const place = { tenant, space: scope.space, exact }
        return { status: 200, body: await shownPlan(plan, place, deps.routePermissions(), warnings) }
      },
    }),
    endpoint({
      method: 'POST',
      path: '/v1/seats/apply',
      permission: 'seats:update',
      operation: 'applySeats',
      summary: 'Makes the Seats match a file: all changes or none.',
      details:
        'In one transaction. With the versions of a plan, nothing is written unless exactly the changes of that plan are due.',
      body: applyBody,
      maxBody: MAX_BODY,
      json: JSON_LIMITS,
      answers: { 200: appliedAnswer },
      codes: ['grant_exceeds_own', 'last_administrator', 'precondition_failed'],
      async handle({ body, caller }) {
        const wanted = wantedOf(body, caller)
        if (isRefusal(wanted)) return wanted
        const versions = body.versions === undefined ? null : new Map(Object.entries(body.versions))
        const applied = await deps.store.applySeats(writerOf(caller, deps), wanted, versions)
        if (isRefusal(applied)) return applied
        await announceApplied(committedOf(applied.committed), deps)
        const warnings = together(await warningsAfter(caller, deps, applied), await warningsOf(wanted, deps))
        return { status: 200, body: shownApplied(applied, caller.tenant, warnings) }
      },
    }),
  ]
}

/**
 * Seats that are as the file has them, or are gone, may be so by a write that is not known everywhere yet.
 */
async function announceApplied(committed: Committed, { announce }: AdminDeps): Promise<void> {
  const before = announce({ ...committed, changes: [] })
  if (committed.changes.length > 0) await announce(committed)
  await before
}

function wantedOf({ seats, tenant, prune = false }: Body, caller: Caller): WantedSeats | AdminRefusal {
  if (tenant !== undefined && tenant !== caller.tenant)
    return inputInvalid([{ path: '/tenant', message: 'is not the tenant of the caller' }])
  const wanted = Object.entries(seats).map(([name, { spaces, permissions, was = null }]) => ({
    name,
    spaces,
    permissions,
    was,
  }))
  return { seats: wanted, prune }
}

function warningsOf({ seats }: WantedSeats, { routePermissions }: AdminDeps): Promise<Warning[]> {
  const lists = seats.map(({ name, permissions }) => {
    return [pointerTo(pointerTo('/seats', name), 'permissions'), permissions] as const
  })
  return unaskedPermissions(lists, routePermissions())
}

/** Checks the Seats in slices, between which other requests are served. */
function fileChecker<T extends Body>(schema: Schema<T>): Checker<T> {
  const { seats, ...others } = schema.properties ?? {}
  const anySeats = { type: 'object', maxProperties: seats?.maxProperties ?? 0 }
  const checkFrame = checker<T>({
    ...strictObject({ seats: anySeats }, others),
    required: schema.required ?? [],
  } as Schema<T>)
  const check = async (body: unknown): Promise<T | AdminRefusal> => {
    const frame = checkFrame(body)
    if (isRefusal(frame)) return frame
    const faults: AdminFault[] = []
    const share = new TimeShare()
    for (const [name, item] of Object.entries(frame.seats)) {
      const rest = share.spent()
      if (rest !== null) await rest
      faults.push(...faultsOf(name, item))
      if (faults.length >= MAX_FAULTS) break
    }
    return faults.length > 0 ? inputInvalid(faults.slice(0, MAX_FAULTS)) : frame
  }
  return Object.assign(check, { schema })
}

function faultsOf(name: string, item: unknown): AdminFault[] {
  const path = pointerTo('/seats', name)
  if (!FORMATS.name.accepts(name)) {
    const place = name.length > MAX_ECHO ? '/seats' : path
    return [{ path: place, message: `has a name that ${FORMATS.name.otherwise}` }]
  }
  const checked = checkSeat(item)
  if (!isRefusal(checked)) return []
  return (checked.faults ?? []).map((fault) => ({ ...fault, path: `${path}${fault.path}` }))
}
