/** Groups as SCIM shows them, and what a body makes of one. Lists of members are read in steps. */

import type { JsonObject } from '../model/canonical-json.ts'
import { type ScimGroup, type ScimGroupInput, type ScimGroupStep, type ScimMember } from '../model/scim.ts'
import { isUlid } from '../model/ulid.ts'
import { GROUP_ATTRIBUTES, GROUP_URN } from './scim-attributes.ts'
import { invalidPath, invalidSyntax, invalidValue, ScimFault } from './scim-fault.ts'
import type { ScimOperation } from './scim-operations.ts'
import { isForeign, parsePath, type ScimPath } from './scim-path.ts'
import { READ_ONLY } from './scim-user-patch.ts'
import { bodyFault } from './scim-users.ts'
import { canonicalObject, clears, type Input, isInput, membersOf } from './scim-values.ts'

export interface GroupBody {
  readonly displayName: string
  /** Undefined: the body does not say. */
  readonly externalId: string | null | undefined
  /** Undefined: the body does not say. */
  readonly members: readonly string[] | undefined
}

const SINGLE = new Map([...GROUP_ATTRIBUTES].filter(([, { multi }]) => !multi))

export function* readGroup(body: unknown): Generator<void, GroupBody | ScimFault> {
  if (!isInput(body)) return invalidSyntax('The body must be a JSON object.')
  const attributes = membersOf(body)
  if (attributes instanceof ScimFault) return attributes
  const fault = bodyFault(attributes, GROUP_URN)
  if (fault !== null) return fault
  const set = settings(body)
  if (set instanceof ScimFault) return set
  const { displayName } = set
  if (displayName === undefined) return invalidValue('displayName is required.')
  const list = attributes.get('members')
  const members = list === undefined ? undefined : yield* readMembers(list ?? [], true)
  if (members instanceof ScimFault) return members
  return { displayName, externalId: set.externalId, members }
}

/** The single attributes of a body. */
function settings(body: Input): Partial<ScimGroupInput> | ScimFault {
  const values = canonicalObject(body, SINGLE)
  if (values instanceof ScimFault) return values
  const { displayName, externalId } = values
  return {
    ...(typeof displayName === 'string' ? { displayName } : {}),
    ...(typeof externalId === 'string'
      ? { externalId }
      : clears(body, 'externalId')
        ? { externalId: null }
        : {}),
  }
}

/**
 * The ids of members. Each `next` reads one.
 *
 * @param strict whether an id that no user can have is a fault: it can be removed without one
 */
function* readMembers(value: unknown, strict: boolean): Generator<void, readonly string[] | ScimFault> {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const ids = new Set<string>()
  for (const each of list) {
    const id = memberId(each)
    if (id instanceof ScimFault) return id
    if (isUlid(id)) ids.add(id)
    else if (strict) return notUser
    yield
  }
  return [...ids]
}

const notUser = invalidValue('A member is not the id of a user.')
const noMember = invalidValue('A member must be an object with the id of a user as value.')

/** There may be 100,000: {@link membersOf} would make a map for each. */
function memberId(member: unknown): string | ScimFault {
  if (!isInput(member)) return noMember
  let id: unknown
  let count = 0
  for (const name of Object.keys(member)) {
    const lower = name.toLowerCase()
    if (lower === 'value' && ++count > 0) id = member[name]
    if (lower === 'type' && typeof member[name] === 'string' && member[name].toLowerCase() !== 'user')
      return invalidValue('A member must be a user: groups in groups are not supported.')
  }
  return count === 1 && typeof id === 'string' && id !== '' ? id : noMember
}

/**
 * The most steps of one change, once steps of one kind in a row are joined. Each takes a statement or more.
 */
const MAX_STEPS = 1000
const tooManySteps = invalidValue(
  `A change of a group has more than ${MAX_STEPS} operations that cannot be joined.`,
)

/** The steps of a change, in order. Each `next` reads one operation, or one member. */
export function* readGroupSteps(
  operations: readonly ScimOperation[],
): Generator<void, ScimGroupStep[] | ScimFault> {
  const steps = new Steps()
  for (const { op, path, value } of operations) {
    const targets = path === null ? targetsIn(value) : [{ path, value }]
    if (targets instanceof ScimFault) return targets
    for (const target of targets) {
      const fault = yield* addStep(steps, op, target.path, target.value, path !== null)
      if (fault !== null) return fault
      if (steps.all.length > MAX_STEPS) return tooManySteps
      yield
    }
  }
  return steps.all
}

function targetsIn(value: unknown): { readonly path: string; readonly value: unknown }[] | ScimFault {
  if (!isInput(value)) return invalidSyntax('Without a path, the value must be an object.')
  const members = membersOf(value)
  if (members instanceof ScimFault) return members
  return Object.entries(value).map(([path, member]) => ({ path, value: member }))
}

type Op = ScimOperation['op']

/** @param named whether the operation itself has the path */
function* addStep(
  steps: Steps,
  op: Op,
  text: string,
  value: unknown,
  named: boolean,
): Generator<void, ScimFault | null> {
  const path = parsePath(text, GROUP_URN)
  if (path === null) return isForeign(text) ? null : invalidPath('A path is not understood.')
  if (path.extension !== null) return null
  if (READ_ONLY.has(path.attribute))
    return named ? new ScimFault(400, 'mutability', `${path.attribute} is read-only.`) : null
  if (path.attribute === 'members') return yield* addMembers(steps, op, path, value)
  const attribute = SINGLE.get(path.attribute)
  if (attribute === undefined) return null
  if (path.sub !== null || path.where.length > 0) return invalidPath(`A path does not fit ${attribute.name}.`)
  const set = settings({ [attribute.name]: op === 'remove' ? null : value })
  if (set instanceof ScimFault) return set
  if (attribute.required && set.displayName === undefined)
    return invalidValue('displayName must have a value.')
  if (Object.keys(set).length > 0) steps.set(set)
  return null
}

function* addMembers(
  steps: Steps,
  op: Op,
  { where, sub }: ScimPath,
  value: unknown,
): Generator<void, ScimFault | null> {
  if (sub !== null) return invalidPath('A path does not fit members.')
  if (where.length > 0) {
    const [condition, ...more] = where
    const id = condition?.value
    const fits = condition?.path.attribute === 'value' && condition.path.sub === null && more.length === 0
    if (op !== 'remove' || !fits || typeof id !== 'string')
      return invalidPath('Only remove takes a filter of members, and only [value eq "ID"].')
    if (isUlid(id)) steps.remove([id])
    return null
  }
  // Without a list, it would be open whether one member is meant or all: it never empties the group.
  if (value === undefined || value === null)
    return invalidValue('members needs a value, or a filter such as members[value eq "ID"].')
  const ids = yield* readMembers(value, op !== 'remove')
  if (ids instanceof ScimFault) return ids
  if (op === 'add') steps.add(ids)
  else if (op === 'remove') steps.remove(ids)
  else steps.replace(ids)
  return null
}

/** Joins steps of one kind in a row: providers may send one operation for each member. */
class Steps {
  readonly all: ScimGroupStep[] = []
  #last: { readonly kind: 'add' | 'remove'; readonly ids: string[] } | null = null

  set(set: Partial<ScimGroupInput>): void {
    this.#last = null
    this.all.push({ set })
  }

  replace(replace: readonly string[]): void {
    this.#last = null
    this.all.push({ replace })
  }

  add(ids: readonly string[]): void {
    this.#join('add', ids)
  }

  remove(ids: readonly string[]): void {
    this.#join('remove', ids)
  }

  #join(kind: 'add' | 'remove', ids: readonly string[]): void {
    if (this.#last?.kind !== kind) {
      const list: string[] = []
      this.#last = { kind, ids: list }
      this.all.push(kind === 'add' ? { add: list } : { remove: list })
    }
    for (const id of ids) this.#last.ids.push(id)
  }
}

/**
 * The JSON of a group.
 *
 * @param members undefined: they are left out
 */
export function groupForm(
  { id, displayName, externalId }: ScimGroup,
  members: readonly ScimMember[] | undefined,
  meta: JsonObject,
): JsonObject {
  return {
    schemas: [GROUP_URN],
    id,
    displayName,
    ...(externalId === null ? {} : { externalId }),
    ...(members === undefined ? {} : { members: members.map(memberForm) }),
    meta,
  }
}

function memberForm({ id, userName, displayName }: ScimMember) {
  return { value: id, display: displayName ?? userName }
}
