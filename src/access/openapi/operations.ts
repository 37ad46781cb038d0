/** The operations of an OpenAPI (3.0, 3.1, 3.2) or Swagger 2 description, with what a route table needs. */

import type { Description } from './description.ts'
import { isJsonObject } from '../../lib/json.ts'

export interface Operation {
  /** The method in upper case; `ANY` stands for those without an operation of the path. */
  readonly method: string
  /** The path as written, after the path of its server. */
  readonly path: string
  /** The place, as keys from the root. */
  readonly at: readonly string[]
  readonly operationId: string | null
  readonly tag: string | null
  readonly summary: string
  /** The value of `x-seatgate-permission`; undefined if there is none. */
  readonly permission: unknown
  /** Whether the description says that it needs no credential. */
  readonly isOpen: boolean
  /** The names of parameters that contain slashes. */
  readonly multiSegment: ReadonlySet<string>
}

/** What a table cannot express, or what a person should review. */
export interface Remark {
  /** The place, as keys from the root. */
  readonly at: readonly string[]
  readonly message: string
  /** Whether the table lacks it. */
  readonly isLeftOut: boolean
}

/** A remark on what is left out. @param reason the reason */
export function leftOut(at: readonly string[], reason: string): Remark {
  return { at, message: `left out: ${reason}`, isLeftOut: true }
}

/** The name of a remark: `METHOD /path` if it is about an operation. */
export function remarkName({ at }: Pick<Remark, 'at'>): string {
  const [first = '', key, ...rest] = at
  if (first !== 'paths' || key === undefined) return at.join('.')
  const [method, ...inner] = rest[0] === 'additionalOperations' && rest.length > 1 ? rest.slice(1) : rest
  if (method === undefined) return key
  const isMethod = METHODS.includes(method) || ANY_METHOD.test(method) || method !== rest[0]
  const name = isMethod
    ? `${ANY_METHOD.test(method) ? 'ANY' : method.toUpperCase()} ${key}`
    : `${key} ${method}`
  return [name, ...inner].join('.')
}

export type Described = ReturnType<typeof readOperations>

/** What was read is no description of an HTTP API. */
export class NotADescription extends Error {}

type Json = Readonly<Record<string, unknown>>

const PERMISSION = 'x-seatgate-permission'

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace', 'query']
/** Operations for the methods without one of the path, such as `x-amazon-apigateway-any-method`. */
const ANY_METHOD = /^x-(?:.*-)?any-method$/
const EXTENSION = /^x-/
/** The fields of a path that a table ignores. */
const READ = new Set(['summary', 'description', 'servers', 'parameters', PERMISSION])
/** The fields that OpenAPI 3.1 permits next to a reference. */
const BESIDE = new Set(['$ref', 'summary', 'description'])
/** The most references in a row. */
const MAX_HOPS = 8

/**
 * Reads a description.
 *
 * @param document the parsed file
 * @param twice the repeated members of the text, as keys from the root
 * @throws NotADescription
 */
export function readOperations(document: unknown, twice: Description['twice'] = []) {
  const root = mapOf(document)
  const version = versionOf(root['openapi'] ?? root['swagger'])
  if (!/^(?:3\.[0-2]|2\.0)(?:\.|$)/.test(version))
    throw new NotADescription(
      version === ''
        ? 'it has neither "openapi" nor "swagger"'
        : `version ${version} is not known: OpenAPI 3.0 to 3.2 and Swagger 2.0 are`,
    )
  const paths = root['paths'] ?? EMPTY
  if (!isJsonObject(paths)) throw new NotADescription('its "paths" is no map')
  const reader = new Reader(root, twice)
  for (const [key, item] of Object.entries(paths)) reader.readPath(key, item)
  const info = mapOf(root['info'])
  const title = [info['title'], info['version']]
    .filter((each) => typeof each === 'string' || typeof each === 'number')
    .join(' ')
  return { title, operations: reader.operations, remarks: reader.remarks }
}

/** The version as text. YAML reads `3.0` without quotes as the number 3. */
function versionOf(version: unknown): string {
  return typeof version === 'number' && Number.isInteger(version) ? `${version}.0` : String(version ?? '')
}

class Reader {
  readonly operations: Operation[] = []
  readonly remarks: Remark[] = []
  readonly #root: Json
  readonly #base: string
  /** The repeated members, as JSON. */
  readonly #twice: ReadonlySet<string>

  constructor(root: Json, twice: Description['twice']) {
    this.#root = root
    this.#twice = new Set(twice.map((at) => JSON.stringify(at)))
    for (const at of twice)
      if (decides(at)) this.#remark(at, 'the text has it twice: what the first one says is left out')
    this.#base = this.#baseOf(root, [])
  }

  readPath(key: string, node: unknown): void {
    if (EXTENSION.test(key)) return
    const at = ['paths', key]
    const item = this.#resolved(node, at)
    if (item === null) return
    const base = 'servers' in item ? this.#baseOf(item, at) : this.#base
    for (const [field, value] of Object.entries(item)) {
      const method = METHODS.includes(field) ? field.toUpperCase() : ANY_METHOD.test(field) ? 'ANY' : null
      if (method === null) this.#remarkField([...at, field], value)
      else this.#readOperation([...at, field], method, base, item, value)
    }
  }

  /** Remarks on a field of a path that is not read. */
  #remarkField(at: readonly string[], value: unknown): void {
    const field = at.at(-1) ?? ''
    if (READ.has(field)) return
    if (field === 'additionalOperations') {
      for (const method of Object.keys(mapOf(value)))
        this.#leaveOut([...at, method], 'operations of additionalOperations are not read')
      if (!isJsonObject(value)) this.#leaveOut(at, 'it is no map')
    } else if (METHODS.includes(field.toLowerCase()))
      this.#leaveOut(at, `a method is in lower case in a description, ${field.toLowerCase()}`)
    else if (!EXTENSION.test(field)) this.#leaveOut(at, 'a path has no such field')
    else if (isJsonObject(value) && ('responses' in value || 'operationId' in value))
      this.#leaveOut(at, 'it looks like an operation, and its method is not known')
  }

  #readOperation(at: readonly string[], method: string, base: string, item: Json, node: unknown): void {
    const operation = this.#resolved(node, at)
    if (operation === null) return
    const [, key = ''] = at
    const tags = operation['tags']
    const own = 'servers' in operation ? this.#baseOf(operation, at) : base
    this.operations.push({
      method,
      path: own + (key.startsWith('/') ? key : `/${key}`),
      at,
      operationId: textOrNull(operation['operationId']),
      tag: Array.isArray(tags) ? textOrNull(tags[0]) : null,
      summary: summaryOf(operation),
      permission: (PERMISSION in operation ? operation : item)[PERMISSION],
      isOpen: this.#isOpen(at, operation),
      multiSegment: this.#multiSegment([item['parameters'], operation['parameters']].flat(), at),
    })
  }

  #isOpen(at: readonly string[], operation: Json): boolean {
    const security = operation['security'] ?? this.#root['security']
    if (security === undefined) return false
    if (!Array.isArray(security)) {
      this.#remark([...at, 'security'], 'it is no list: the entry requires a permission')
      return false
    }
    if (security.some((each) => Object.keys(mapOf(each)).length === 0))
      this.#remark(at, 'the credential is optional: the entry requires one')
    // Readers differ in which of two members counts.
    const places = [['security'], at.slice(0, 1), at.slice(0, 2), at, [...at, 'security']]
    return security.length === 0 && !places.some((each) => this.#twice.has(JSON.stringify(each)))
  }

  #multiSegment(parameters: readonly unknown[], at: readonly string[]): Set<string> {
    const names = parameters.flatMap((each) => {
      const parameter = each === undefined ? null : this.#resolved(each, [...at, 'parameters'])
      if (parameter === null || parameter['in'] !== 'path') return []
      return parameter['x-multi-segment'] === true ? [String(parameter['name'])] : []
    })
    return new Set(names)
  }

  /** The path of the first server, without a final slash; Swagger 2 has `basePath`. */
  #baseOf(holder: Json, at: readonly string[]): string {
    const servers = holder['servers']
    const holders = Array.isArray(servers) ? servers.map(mapOf) : []
    const urls = holders.map(serverAddress)
    const addresses = urls.length === 0 ? [textOrNull(holder['basePath']) ?? ''] : urls
    const paths = addresses.map(serverPath)
    const [first = ''] = paths
    const place = [...at, Array.isArray(servers) ? 'servers' : 'basePath']
    if (paths.some((each) => each !== first))
      this.#remark(place, `its servers have different paths: the first one counts, ${first || '/'}`)
    for (const name of holders.slice(0, 1).flatMap(openVariables))
      this.#remark(place, `{${name}} can have other values: its default counts, ${first || '/'}`)
    const [address = ''] = addresses
    if (address !== '' && !/^(?:[a-z][a-z0-9+.-]*:|\/)/i.test(address))
      this.#remark(
        place,
        `${address} is relative to the place of the description: it counts as ${first || '/'}`,
      )
    return first
  }

  /** Follows local references; null if there is no map at the end. */
  #resolved(node: unknown, at: readonly string[]): Json | null {
    let value = node
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      const reference = mapOf(value)['$ref']
      if (typeof reference !== 'string') {
        if (isJsonObject(value)) return value
        this.#leaveOut(at, hops === 0 ? 'it is no map' : 'it refers to nothing')
        return null
      }
      this.#remarkBeside(mapOf(value), at)
      if (!reference.startsWith('#/')) {
        this.#leaveOut(at, `${reference} is in another file, which is not read`)
        return null
      }
      value = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((each, part) => ownOf(each, decodedPointer(part)), this.#root)
    }
    this.#leaveOut(at, 'its references do not end')
    return null
  }

  /** Remarks on fields next to a reference, which are not read, as readers differ about them. */
  #remarkBeside(holder: Json, at: readonly string[]): void {
    for (const field of Object.keys(holder)) {
      const isOurs = field === PERMISSION || ANY_METHOD.test(field)
      if (BESIDE.has(field) || (EXTENSION.test(field) && !isOurs)) continue
      this.#leaveOut([...at, field], 'it stands beside a $ref; write it into what that refers to')
    }
  }

  #remark(at: readonly string[], message: string): void {
    this.remarks.push({ at, message, isLeftOut: false })
  }

  #leaveOut(at: readonly string[], reason: string): void {
    this.remarks.push(leftOut(at, reason))
  }
}

/** Whether the table depends on a repeated member. */
function decides([first = '', second]: readonly string[]): boolean {
  if (first === 'components') return second === undefined || second === 'pathItems'
  return ['paths', 'security', 'servers', 'basePath', 'openapi', 'swagger'].includes(first)
}

/** A summary. Swagger descriptions often have none, but a description of one sentence or more. */
function summaryOf({ summary, description, operationId }: Json): string {
  const [sentence] = (textOrNull(description) ?? '').trim().split(/(?<=\.)\s|\n/)
  return textOrNull(summary) || sentence || textOrNull(operationId) || ''
}

/** The address with the defaults of its variables. */
function serverAddress({ url, variables }: Json): string {
  return (textOrNull(url) ?? '').replace(/\{([^}]*)\}/g, (_, name: string) =>
    String(mapOf(mapOf(variables)[name])['default'] ?? ''),
  )
}

/** The variables in the path with more than one value. A table has paths of one value only. */
function openVariables({ url, variables }: Json): string[] {
  const names = [...serverPath(textOrNull(url) ?? '').matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name)
  return names.filter((name) => {
    const values = mapOf(mapOf(variables)[name])['enum']
    return !Array.isArray(values) || values.length !== 1
  })
}

/** The path without a final slash. A relative one (RFC 3986, section 4.2) counts from `/`. */
function serverPath(address: string): string {
  const path = address.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i, '').replace(/[?#].*$/, '')
  const segments = path.split('/').filter((each) => each !== '.')
  while (segments.includes('..')) {
    const at = segments.indexOf('..')
    segments.splice(Math.max(at - 1, 0), at === 0 ? 1 : 2)
  }
  const joined = segments.join('/').replace(/\/+$/, '')
  return joined === '' || joined.startsWith('/') ? joined : `/${joined}`
}

/** A part of a JSON Pointer in a URI fragment (RFC 6901, section 6). */
function decodedPointer(part: string): string {
  let text = part
  try {
    text = decodeURIComponent(part)
  } catch {
    // It is not encoded.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

const EMPTY: Json = Object.freeze({})

function mapOf(value: unknown): Json {
  return isJsonObject(value) ? value : EMPTY
}

function ownOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)]
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
