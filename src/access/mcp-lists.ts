/** What an MCP server lists: its tools, prompts and resources. */

import { isJsonObject, parseJson } from '../lib/json.ts'
import { LIST_METHODS, type McpKind, type McpName } from '../model/mcp.ts'

/** Pages of one list. */
const MOST_PAGES = 100
/** Bytes of an answer. */
const MOST_BYTES = 4 * 1024 * 1024
const VERSION = '2026-07-28'
const METHOD_NOT_FOUND = -32601

/** The lists that a text has: results of `tools/list` and its like, or messages with them. Throws if it has none. */
export function namesInText(text: string): McpName[] {
  const parsed = parseJson(text, { members: 1_000_000, elements: 1_000_000 })
  if ('fault' in parsed) throw new Error(`is ${parsed.fault}`)
  const all = [parsed.value].flat().filter(isJsonObject)
  const results = all.map(({ result }) => result).filter(isJsonObject)
  const lists = [...all, ...results].flatMap((each) =>
    [...LIST_METHODS.values()].flatMap((list) => (list.items in each ? [namesOf(each, list)] : [])),
  )
  if (lists.length === 0) throw new Error('has no tools, prompts or resources')
  return lists.flat()
}

/** Asks a server. Throws if it does not answer with lists. */
export async function namesAt(url: string, signal: AbortSignal): Promise<McpName[]> {
  const names: McpName[] = []
  for (const [method, list] of LIST_METHODS) {
    let cursor: unknown
    for (let page = 0; page < MOST_PAGES; page++) {
      const result = await resultOf(url, method, cursor === undefined ? {} : { cursor }, signal)
      // A server has no prompts, or no resources.
      if (result === null) break
      names.push(...namesOf(result, list))
      cursor = result['nextCursor']
      if (typeof cursor !== 'string' || cursor === '') break
    }
  }
  return names
}

type Members = Readonly<Record<string, unknown>>

function namesOf(
  result: Members,
  { items, kind, member }: { items: string; kind: McpKind; member: string },
): McpName[] {
  const all = result[items]
  if (!Array.isArray(all)) throw new Error(`has ${items} that are no list`)
  return all.map((item) => {
    const name = isJsonObject(item) ? item[member] : null
    if (typeof name !== 'string') throw new Error(`has ${items} without a ${member}`)
    return { kind, name }
  })
}

/** Null: the server has no such method. */
async function resultOf(
  url: string,
  method: string,
  params: Members,
  signal: AbortSignal,
): Promise<Members | null> {
  const client = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'seatgate', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'error',
    signal,
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: client } }),
  })
  const message = messageIn(await textOf(response), response.headers.get('content-type') ?? '')
  const { result, error } = message
  if (isJsonObject(result)) return result
  if (isJsonObject(error) && error['code'] === METHOD_NOT_FOUND) return null
  throw new Error(`answers ${method} with status ${response.status} and no list`)
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > MOST_BYTES) throw new Error(`answers with more than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** The response, which may be an event of a stream. */
function messageIn(text: string, type: string): Members {
  const texts = type.startsWith('text/event-stream')
    ? text.split(/\r\n\r\n|\n\n|\r\r/).map((event) =>
        event
          .replace(/^(?!data:).*$/gm, '')
          .replace(/^data: ?/gm, '')
          .trim(),
      )
    : [text]
  for (const each of texts) {
    const parsed = parseJson(each)
    if ('value' in parsed && isJsonObject(parsed.value) && parsed.value['id'] === 1) return parsed.value
  }
  throw new Error('answers with no message of MCP')
}
