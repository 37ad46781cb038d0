/**
 * Reads the bodies of AuthZEN requests (Authorization API 1.0, sections 5 to 8). Unknown members are ignored,
 * as section 11.1.1 requires; a missing or wrongly typed one is a fault.
 */

import { isSpaceId } from '../../../seats-admin/model/space.ts'
import { isJsonObject } from '../../lib/json.ts'
import { type InputFault, Refusal } from '../../model/errors.ts'

/** A subject or a resource. */
export interface Entity {
  readonly type: string
  readonly id: string
}

/** One access evaluation. */
export interface EvaluationRequest {
  readonly subject: Entity
  /** The name of the action. */
  readonly action: string
  readonly resource: Entity
  /** The space; null if neither the context nor the resource names one. */
  readonly space: string | null
}

/** The kind of the entities that a search looks for. */
export type Sought = 'subject' | 'resource' | 'action'

/** A search: a question without the id of what is sought. */
export interface SearchRequest {
  /** The subject; its `id` is '' if subjects are sought. */
  readonly subject: Entity
  /** The name of the action; '' if actions are sought. */
  readonly action: string
  /** The resource; its `id` is '' if resources are sought. */
  readonly resource: Entity
  readonly space: string | null
}

/** The page that a search requests. */
export interface PageRequest {
  /** The most results; null: the gateway chooses. */
  readonly limit: number | null
  readonly token: string | null
}

type Members = Readonly<Record<string, unknown>>

/** Reads members and collects the faults of all of them. */
export class BodyReader {
  readonly faults: InputFault[] = []

  evaluation(members: Members): EvaluationRequest {
    return {
      subject: this.#entity(members, 'subject'),
      action: this.#action(members),
      resource: this.#entity(members, 'resource'),
      space: this.space(members),
    }
  }

  search(members: Members, sought: Sought): SearchRequest {
    return {
      subject: this.#entity(members, 'subject', sought !== 'subject'),
      action: sought === 'action' ? '' : this.#action(members),
      resource: this.#entity(members, 'resource', sought !== 'resource'),
      space: this.space(members),
    }
  }

  page(members: Members): PageRequest {
    const page = this.object(members, 'page', '')
    const { limit = null, token = null } = page ?? {}
    if (limit !== null && !(Number.isSafeInteger(limit) && Number(limit) >= 0))
      this.#fault('/page/limit', 'must be an integer, not negative')
    if (token !== null && typeof token !== 'string') this.#fault('/page/token', 'must be a string')
    return {
      limit: typeof limit === 'number' ? limit : null,
      token: typeof token === 'string' ? token : null,
    }
  }

  /**
   * The member as an object; null if it is missing, or a fault.
   *
   * @param at the JSON Pointer of its parent
   */
  object(members: Members, name: string, at: string): Members | null {
    const value = members[name]
    if (value === undefined) return null
    if (isJsonObject(value)) return value
    this.#fault(`${at}/${name}`, 'must be an object')
    return null
  }

  /** The space that the context or the resource names. If both name one, it must be the same. */
  space(members: Members): string | null {
    const context = this.object(members, 'context', '')
    const resource = isJsonObject(members.resource) ? members.resource : {}
    const properties = isJsonObject(resource.properties) ? resource.properties : null
    const ofContext = this.#space(context, '/context/space')
    const ofResource = this.#space(properties, '/resource/properties/space')
    if (ofContext !== null && ofResource !== null && ofContext !== ofResource)
      this.#fault('/resource/properties/space', 'is another space than that of the context')
    return ofContext ?? ofResource
  }

  #space(members: Members | null, path: string): string | null {
    const value = members?.space
    if (value === undefined) return null
    if (typeof value === 'string' && isSpaceId(value)) return value
    this.#fault(path, 'must be the id of a space')
    return null
  }

  #entity(members: Members, name: 'subject' | 'resource', identified = true): Entity {
    const entity = this.#required(members, name)
    if (entity === null) return NOTHING
    this.object(entity, 'properties', `/${name}`)
    return {
      type: this.#text(entity, 'type', `/${name}`),
      id: identified ? this.#text(entity, 'id', `/${name}`) : '',
    }
  }

  #action(members: Members): string {
    const action = this.#required(members, 'action')
    if (action === null) return ''
    this.object(action, 'properties', '/action')
    return this.#text(action, 'name', '/action')
  }

  #required(members: Members, name: string): Members | null {
    if (members[name] === undefined) this.#fault(`/${name}`, 'is required')
    return this.object(members, name, '')
  }

  #text(members: Members, name: string, at: string): string {
    const value = members[name]
    if (typeof value === 'string') return value
    this.#fault(`${at}/${name}`, value === undefined ? 'is required' : 'must be a string')
    return ''
  }

  #fault(path: string, message: string): void {
    this.faults.push({ path, message })
  }
}

const NOTHING: Entity = Object.freeze({ type: '', id: '' })

export const notObject = invalid([{ path: '', message: 'must be an object' }])

export function invalid(faults: readonly InputFault[]): Refusal {
  return new Refusal('input_invalid', 'The body is not a valid request of AuthZEN.', { faults })
}
