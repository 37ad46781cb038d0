/** The operations of an OpenAPI description (3.0, 3.1, 3.2) or of Swagger 2, as far as a route table needs them. */

export interface Operation {
  /** In upper case. */
  readonly method: string
  /** As written, behind the path of its server. */
  readonly path: string
  /** The key under `paths`, by which a reader finds it. */
  readonly key: string
  readonly operationId: string | null
  readonly tag: string | null
  readonly summary: string
  /** `x-seatgate-permission`, whatever it holds; undefined: none. */
  readonly permission: unknown
  /** The description says that it needs no credential. */
  readonly isOpen: boolean
  /** Names of parameters that contain slashes. */
  readonly multiSegment: ReadonlySet<string>
}

/** What a table can't express, or what a reader should look at. */
export interface Remark {
  /** The key under `paths`; '' is the whole description. */
  readonly key: string
  /** In lower case, as the description has it; null: of the whole path. */
  readonly method: string | null
  readonly message: string
}

export interface Described {
  readonly title: string
  readonly operations: readonly Operation[]
  readonly remarks: readonly Remark[]
}

/** What was read is no description of an HTTP API. */
export class NotADescription extends Error {}

type Json = Readonly<Record<string, unknown>>

const PERMISSION = 'x-seatgate-permission'

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace', 'query']

/** @param document the parsed file @throws NotADescription */
export function readOperations(document: unknown): Described {
  const root = mapOf(document)
  const version = String(root['openapi'] ?? root['swagger'] ?? '')
  if (!/^(?:3\.[0-2]|2\.0)(?:\.|$)/.test(version))
    throw new NotADescription(
      version === ''
        ? 'it has neither "openapi" nor "swagger"'
        : `version ${version} is not known: OpenAPI 3.0 to 3.2 and Swagger 2.0 are`,
    )
  const reader = new Reader(root)
  for (const [key, item] of Object.entries(mapOf(root['paths']))) reader.readPath(key, item)
  const info = mapOf(root['info'])
  const title = [info['title'], info['version']].filter((each) => typeof each === 'string').join(' ')
  return { title, operations: reader.operations, remarks: reader.remarks }
}

class Reader {
  readonly operations: Operation[] = []
  readonly remarks: Remark[] = []
  readonly #root: Json
  readonly #base: string

  constructor(root: Json) {
    this.#root = root
    this.#base = this.#baseOf(root, '', null)
  }

  readPath(key: string, found: unknown): void {
    const item = this.#resolved(found, key)
    if (item === null || key.startsWith('x-')) return
    const base = 'servers' in item ? this.#baseOf(item, key, null) : this.#base
    for (const method of METHODS) {
      if (!(method in item)) continue
      const operation = this.#resolved(item[method], key)
      if (operation === null) continue
      const own = 'servers' in operation ? this.#baseOf(operation, key, method) : base
      this.operations.push(this.#operation(key, method, own, item, operation))
    }
  }

  #operation(key: string, method: string, base: string, item: Json, operation: Json): Operation {
    const tags = operation['tags']
    const security = operation['security'] ?? this.#root['security']
    const isOpen = Array.isArray(security) && security.length === 0
    if (Array.isArray(security) && security.some((each) => Object.keys(mapOf(each)).length === 0))
      this.#remark(key, method, 'the credential is optional: the entry requires one')
    return {
      method: method.toUpperCase(),
      path: base + (key.startsWith('/') ? key : `/${key}`),
      key,
      operationId: textOrNull(operation['operationId']),
      tag: Array.isArray(tags) ? textOrNull(tags[0]) : null,
      summary: summaryOf(operation),
      permission: (PERMISSION in operation ? operation : item)[PERMISSION],
      isOpen,
      multiSegment: this.#multiSegment([item['parameters'], operation['parameters']].flat(), key),
    }
  }

  #multiSegment(parameters: readonly unknown[], key: string): Set<string> {
    const names = parameters.flatMap((each) => {
      const parameter = each === undefined ? null : this.#resolved(each, key)
      if (parameter === null || parameter['in'] !== 'path') return []
      return parameter['x-multi-segment'] === true ? [String(parameter['name'])] : []
    })
    return new Set(names)
  }

  /** The path of the first server; Swagger 2 has `basePath`. Without a final slash. */
  #baseOf(holder: Json, key: string, method: string | null): string {
    const servers = holder['servers']
    const urls = Array.isArray(servers) ? servers.map((each) => serverPath(mapOf(each))) : []
    const [first = textOrNull(holder['basePath']) ?? ''] = urls
    if (urls.some((each) => each !== first))
      this.#remark(key, method, `its servers have different paths: the first one counts, ${first || '/'}`)
    return first.replace(/\/+$/, '')
  }

  /** Follows a local reference; null where there is nothing. */
  #resolved(found: unknown, key: string): Json | null {
    let value = found
    for (let hops = 0; hops < 8; hops++) {
      const reference = mapOf(value)['$ref']
      if (typeof reference !== 'string') return isMap(value) ? value : null
      if (!reference.startsWith('#/')) {
        this.#remark(key, null, `${reference} is in another file, which is not read`)
        return null
      }
      value = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((at, part) => mapOf(at)[decodedPointer(part)], this.#root)
    }
    return null
  }

  #remark(key: string, method: string | null, message: string): void {
    this.remarks.push({ key, method, message })
  }
}

/** Swagger descriptions often have no summary, but a description of one sentence or more. */
function summaryOf({ summary, description, operationId }: Json): string {
  const [sentence] = (textOrNull(description) ?? '').trim().split(/(?<=\.)\s|\n/)
  return textOrNull(summary) || sentence || textOrNull(operationId) || ''
}

/** With the defaults of its variables. */
function serverPath({ url, variables }: Json): string {
  const text = (textOrNull(url) ?? '').replace(/\{([^}]*)\}/g, (_, name: string) =>
    String(mapOf(mapOf(variables)[name])['default'] ?? ''),
  )
  return text.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '').replace(/[?#].*$/, '')
}

/** A part of a JSON Pointer in a URI fragment (RFC 6901, section 6). */
function decodedPointer(part: string): string {
  const text = URL.canParse(`x:${part}`) ? safeDecode(part) : part
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const EMPTY: Json = Object.freeze({})

function mapOf(value: unknown): Json {
  return isMap(value) ? value : EMPTY
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
