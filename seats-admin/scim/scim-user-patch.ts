/** Changes of a user (RFC 7644, section 3.5.2), in the forms that Okta and Microsoft Entra ID send. */

import type { Json, JsonObject } from '../model/canonical-json.ts'
import {
  type Attributes,
  ENTERPRISE_ATTRIBUTES,
  ENTERPRISE_URN,
  type ScimAttribute,
  USER_ATTRIBUTES,
  USER_URN,
} from './scim-attributes.ts'
import { invalidPath, invalidSyntax, invalidValue, ScimFault } from './scim-fault.ts'
import type { ScimOperation } from './scim-operations.ts'
import { isForeign, parsePath, type ScimCondition, type ScimPath } from './scim-path.ts'
import { listOf, type UserAttributes } from './scim-users.ts'
import { canonicalValue, isInput, isPrimary, membersOf, truthOf } from './scim-values.ts'

/** Operations of one change. Each may go through all values of an attribute. */
export const MAX_OPERATIONS = 256

/** Attributes that only the gateway writes. A provider may send them along with others. */
export const READ_ONLY: ReadonlySet<string> = new Set(['id', 'meta', 'schemas'])

/**
 * The attributes after all operations, in order; or the fault of the first one that has one. Each `next`
 * changes one attribute, which takes up to 15 ms with the values of a body of 8 MiB.
 */
export function* patchUser(
  attributes: UserAttributes,
  operations: readonly ScimOperation[],
): Generator<void, UserAttributes | ScimFault> {
  if (operations.length > MAX_OPERATIONS)
    return invalidValue(`A change of a user has more than ${MAX_OPERATIONS} operations.`)
  const draft = new Draft(attributes)
  for (const operation of operations) {
    const fault = yield* draft.apply(operation)
    if (fault !== null) return fault
  }
  return draft.result
}

type Op = ScimOperation['op']

class Draft {
  readonly #core: Record<string, Json>
  readonly #enterprise: Record<string, Json>

  constructor({ [ENTERPRISE_URN]: enterprise, ...core }: UserAttributes) {
    this.#core = core
    this.#enterprise = isInput(enterprise) ? { ...(enterprise as JsonObject) } : {}
  }

  get result(): UserAttributes {
    const hasEnterprise = Object.keys(this.#enterprise).length > 0
    return { ...this.#core, ...(hasEnterprise ? { [ENTERPRISE_URN]: this.#enterprise } : {}) }
  }

  *apply({ op, path, value }: ScimOperation): Generator<void, ScimFault | null> {
    const targets = path === null ? entriesIn(value) : [[path, value] as const]
    if (targets instanceof ScimFault) return targets
    for (const [name, member] of targets) {
      const fault = this.#at(name, op, member, path !== null)
      if (fault !== null) return fault
      yield
    }
    return null
  }

  /** @param named whether the operation itself has the path */
  #at(text: string, op: Op, value: unknown, named: boolean): ScimFault | null {
    const path = parsePath(text, USER_URN)
    if (path === null) return isForeign(text) ? null : invalidPath('A path is not understood.')
    if (path.extension === null) return this.#change(path, op, value, named)
    if (path.attribute !== '')
      return changeAttribute(this.#enterprise, ENTERPRISE_ATTRIBUTES, path, op, value)
    if (op !== 'remove') return this.#extension(op, value)
    for (const name of Object.keys(this.#enterprise)) delete this.#enterprise[name]
    return null
  }

  #extension(op: Op, value: unknown): ScimFault | null {
    const members = entriesIn(value)
    if (members instanceof ScimFault) return members
    for (const [name, member] of members) {
      const fault = this.#at(`${ENTERPRISE_URN}:${name}`, op, member, false)
      if (fault !== null) return fault
    }
    return null
  }

  #change(path: ScimPath, op: Op, value: unknown, named: boolean): ScimFault | null {
    if (READ_ONLY.has(path.attribute))
      return named ? new ScimFault(400, 'mutability', `${path.attribute} is read-only.`) : null
    const fault = changeAttribute(this.#core, USER_ATTRIBUTES, path, op, value)
    if (fault !== null) return fault
    // Without it, it would be open whether the user may use the gateway.
    return typeof this.#core.userName === 'string' && typeof this.#core.active === 'boolean'
      ? null
      : invalidValue('userName and active must have a value.')
  }
}

/** The attributes that an operation without a path changes, by their paths. */
function entriesIn(value: unknown): readonly (readonly [string, unknown])[] | ScimFault {
  if (!isInput(value)) return invalidSyntax('Without a path, the value must be an object.')
  const members = membersOf(value)
  return members instanceof ScimFault ? members : Object.entries(value)
}

/** Changes the attribute of the path in `object`. Unknown attributes are dropped. */
function changeAttribute(
  object: Record<string, Json>,
  attributes: Attributes,
  path: ScimPath,
  op: Op,
  value: unknown,
): ScimFault | null {
  const attribute = attributes.get(path.attribute)
  if (attribute === undefined) return null
  const { name, multi, sub } = attribute
  const hasUnknown = path.where.some(
    ({ path: { sub: rest, attribute: of, where, extension } }) =>
      rest !== null || where.length > 0 || extension !== null || !sub.has(of),
  )
  if ((path.where.length > 0 && !multi) || hasUnknown || (path.sub !== null && sub.size === 0))
    return invalidPath(`A path does not fit ${name}.`)
  const part = path.sub === null ? null : sub.get(path.sub)
  if (part === undefined) return null
  const old = object[name]
  const next = multi
    ? nextList(listOf(old), { attribute, where: path.where, part }, op, value)
    : nextSingle(old, attribute, part, op, value)
  const result = next instanceof ScimFault ? next : canonicalValue(next, attribute)
  if (result instanceof ScimFault) return result
  if (result === undefined) delete object[name]
  else object[name] = result
  return null
}

/** @param part the attribute of the value that is changed; null: the value itself */
function nextSingle(
  old: Json | undefined,
  attribute: ScimAttribute,
  part: ScimAttribute | null,
  op: Op,
  value: unknown,
): unknown {
  if (part !== null) return withPart(old, part, op, value)
  if (op === 'remove') return undefined
  const next = canonicalValue(value, attribute)
  if (next instanceof ScimFault) return next
  if (next === undefined) return op === 'add' ? old : undefined
  // The members that the value has are replaced (section 3.5.2.3).
  return attribute.type === 'complex' && isInput(next) && isInput(old) ? { ...old, ...next } : next
}

function withPart(old: unknown, part: ScimAttribute, op: Op, value: unknown): unknown {
  const object: Record<string, unknown> = isInput(old) ? { ...old } : {}
  if (op === 'remove') delete object[part.name]
  else object[part.name] = value
  return object
}

interface ListTarget {
  readonly attribute: ScimAttribute
  readonly where: readonly ScimCondition[]
  readonly part: ScimAttribute | null
}

function nextList(
  old: readonly Json[],
  { attribute, where, part }: ListTarget,
  op: Op,
  value: unknown,
): readonly unknown[] | ScimFault {
  const isTarget = (each: Json) => where.every((condition) => satisfies(each, condition, attribute.sub))
  if (where.length === 0 && part === null) return nextWhole(old, attribute, op, value)
  if (op === 'remove' && part === null) return old.filter((each) => !isTarget(each))
  const values = part === null ? canonicalValue([value], attribute) : null
  if (values instanceof ScimFault) return values
  const [members = {}] = Array.isArray(values) ? (values as readonly unknown[]) : []
  const change = (each: unknown) =>
    part !== null
      ? withPart(each, part, op, value)
      : {
          ...(op === 'add' && isInput(each) ? each : valueWhere(where, attribute.sub)),
          ...(members as object),
        }
  const next = old.map((each) => (isTarget(each) ? change(each) : each))
  // Providers set the work address of a user who has none by this path.
  const isNew = op !== 'remove' && !old.some(isTarget)
  return withOnePrimary(old, isNew ? [...next, change(valueWhere(where, attribute.sub))] : next)
}

/** The list as a whole is the target. */
function nextWhole(
  old: readonly Json[],
  attribute: ScimAttribute,
  op: Op,
  value: unknown,
): readonly unknown[] | ScimFault {
  // An empty list removes nothing: to remove all values, the operation leaves `value` out.
  if (op === 'remove' && value === undefined) return []
  const values = canonicalValue(value, attribute)
  if (values instanceof ScimFault) return values
  const list = listOf(values)
  if (op === 'replace') return list
  const texts = new Set(list.map((each) => JSON.stringify(each)))
  if (op === 'remove') {
    const keys = new Set(list.map(valueIn))
    return old.filter((each) => !texts.has(JSON.stringify(each)) && !keys.has(valueIn(each)))
  }
  const before = new Set(old.map((each) => JSON.stringify(each)))
  return withOnePrimary(old, [...old, ...list.filter((each) => !before.has(JSON.stringify(each)))])
}

/** The text of `value`; the whole value where it has none, so that nothing equals it by accident. */
function valueIn(each: Json): unknown {
  return isInput(each) && typeof each.value === 'string' ? each.value : each
}

/** A value that becomes primary is the only one (section 3.5.2). */
function withOnePrimary(old: readonly Json[], next: readonly unknown[]): readonly unknown[] {
  const before = new Set<unknown>(old.filter(isPrimary))
  const becomes = (each: unknown) => isInput(each) && truthOf(each.primary) === true && !before.has(each)
  if (!next.some(becomes)) return next
  return next.map((each) =>
    isInput(each) && !becomes(each) && 'primary' in each ? { ...each, primary: false } : each,
  )
}

function satisfies(value: Json, { path, value: expected }: ScimCondition, sub: Attributes): boolean {
  const part = sub.get(path.attribute)
  if (part === undefined || !isInput(value)) return false
  const actual = value[part.name]
  if (part.type === 'boolean') return (actual ?? false) === truthOf(expected)
  if (typeof actual !== 'string' || typeof expected !== 'string') return false
  return part.exact ? actual === expected : actual.toLowerCase() === expected.toLowerCase()
}

/** A value that satisfies the conditions. */
function valueWhere(where: readonly ScimCondition[], sub: Attributes): Record<string, unknown> {
  return Object.fromEntries(
    where.map(({ path, value }) => [sub.get(path.attribute)?.name ?? path.attribute, value]),
  )
}
