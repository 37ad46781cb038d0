/**
 * The body of a PATCH: its operations, before what they mean for a user or a group (RFC 7644, section 3.5.2).
 */

import { invalidSyntax, invalidValue, ScimFault } from './scim-fault.ts'
import { schemasFault } from './scim-users.ts'
import { isInput, membersOf } from './scim-values.ts'

const PATCH_URN = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

export interface ScimOperation {
  readonly op: 'add' | 'replace' | 'remove'
  /** Null: the value has the names of what it changes. */
  readonly path: string | null
  readonly value: unknown
}

/** Each `next` reads one operation. */
export function* readOperations(body: unknown): Generator<void, ScimOperation[] | ScimFault> {
  if (!isInput(body)) return invalidSyntax('The body must be a JSON object.')
  const members = membersOf(body)
  if (members instanceof ScimFault) return members
  const schemas = members.get('schemas')
  const fault = schemas === undefined ? null : schemasFault(schemas, PATCH_URN)
  if (fault !== null) return fault
  const list = members.get('operations')
  if (!Array.isArray(list) || list.length === 0)
    return invalidSyntax('Operations must be a list of one operation at least.')
  const operations: ScimOperation[] = []
  for (const each of list as readonly unknown[]) {
    const operation = readOperation(each)
    if (operation instanceof ScimFault) return operation
    operations.push(operation)
    yield
  }
  return operations
}

/** Microsoft Entra ID sends `Add`, `Replace` and `Remove`. */
function readOperation(value: unknown): ScimOperation | ScimFault {
  if (!isInput(value)) return invalidSyntax('An operation must be an object.')
  const members = membersOf(value)
  if (members instanceof ScimFault) return members
  const [op, path = null] = [members.get('op'), members.get('path')]
  const word = typeof op === 'string' ? op.toLowerCase() : ''
  if (word !== 'add' && word !== 'replace' && word !== 'remove')
    return invalidSyntax('The op of an operation must be add, replace or remove.')
  if (path !== null && typeof path !== 'string')
    return invalidSyntax('The path of an operation must be a text.')
  if (path === null && word === 'remove')
    return new ScimFault(400, 'noTarget', 'An operation that removes must have a path.')
  // With no value, what rights depend on, such as externalId, would lose the one that it has.
  if (word !== 'remove' && !members.has('value'))
    return invalidValue('An operation that adds or replaces must have a value.')
  return { op: word, path, value: members.get('value') }
}
