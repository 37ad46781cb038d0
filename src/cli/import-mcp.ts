/** `seatgate import mcp`: makes a route table from what an MCP server lists. */

import { readFile, writeFile } from 'node:fs/promises'
import { namesAt, namesInText } from '../access/mcp-lists.ts'
import { mcpTableText } from '../access/mcp-table-text.ts'
import { fileFault, writeFault } from '../config/file-fault.ts'
import { mcpNameFault } from '../config/mcp-settings.ts'
import type { McpName } from '../model/mcp.ts'
import { printable } from '../telemetry/readable.ts'
import { CommandFailed, type Terminal } from './command.ts'

interface ImportMcpOptions {
  readonly upstream: string
  readonly out: string | undefined
  readonly resource: string | undefined
  readonly authorizationServers: readonly string[]
  readonly isStrict: boolean
}

/** Milliseconds for all lists. */
const TIME = 30_000
const DIFFERENT = 3
const PLACEHOLDER = 'https://gw.example'

/** @param source a file, or the URL of the server */
export async function importMcp(
  source: string,
  options: ImportMcpOptions,
  terminal: Terminal,
): Promise<number> {
  const { upstream, out, authorizationServers } = options
  const url = /^https?:\/\//i.test(source) ? URL.parse(source) : null
  const names = url === null ? await namesInFile(source) : await namesOfServer(source)
  const path = url === null ? '/mcp' : url.pathname.replace(/(?<=.)\/$/, '')
  const remarks: string[] = []
  const usable = names.filter(({ kind, name }) => {
    const fault = mcpNameFault(kind, name)
    if (fault !== null) remarks.push(`${source}: ${kind} ${name}: left out: ${fault}`)
    return fault === null
  })
  const resource = options.resource ?? PLACEHOLDER + path
  if (options.resource === undefined)
    remarks.push(
      `${source}: resource: ${resource} stands for the URL of the server for clients: correct it, or use --resource`,
    )
  for (const line of remarks) terminal.printError(printable(line))
  const text = mcpTableText({ source, upstream, path, resource, authorizationServers }, usable)
  if (out === undefined) await terminal.print(text.trimEnd())
  else {
    await writeFile(out, text, { flag: 'wx' }).catch((cause: unknown) => {
      throw new CommandFailed(`${out} ${writeFault(cause)}`)
    })
    await terminal.print(`${out}: ${usable.length} lines`)
  }
  return options.isStrict && remarks.length > 0 ? DIFFERENT : 0
}

async function namesInFile(file: string): Promise<McpName[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CommandFailed(`${file} ${fileFault(cause)}`)
  })
  try {
    return namesInText(text)
  } catch (cause) {
    throw new CommandFailed(`${file} ${(cause as Error).message}`)
  }
}

async function namesOfServer(url: string): Promise<McpName[]> {
  try {
    return await namesAt(url, AbortSignal.timeout(TIME))
  } catch (cause) {
    const { message, cause: inner } = cause as Error
    throw new CommandFailed(printable(`${url} ${inner instanceof Error ? inner.message : message}`))
  }
}
