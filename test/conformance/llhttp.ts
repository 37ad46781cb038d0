/** The messages of llhttp's tests, and what llhttp finds in them: Markdown with a block of the bytes and one of the events. */

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface Message {
  /** File and heading. */
  readonly name: string
  /** One character each. */
  readonly bytes: string
  /** Number of messages that are complete before the bytes end, or are malformed. */
  readonly complete: number
  /** Where each message begins. */
  readonly begins: readonly number[]
  /** llhttp refuses it, or takes it with leniency alone. */
  readonly isMalformed: boolean
}

const BLOCK = /^#+ (.+)|<!-- meta=(\{.*?\}) -->|```(http|log)\n([^]*?)```/gm
/** An error of llhttp, other than its pauses after an upgrade. */
const ERROR = /error code=(?!2[123] )/

/** @param kind of the messages. Left out: tests of llhttp's pauses, and of functions that only a program around it calls. */
export function messagesOf(folder: string, kind: 'request' | 'response'): Message[] {
  const files = globSync(join(folder, kind, '*.md')).sort()
  return files.flatMap((file) => messagesIn(readFileSync(file, 'utf8'), basename(file, '.md'), kind))
}

function messagesIn(text: string, file: string, kind: string): Message[] {
  const messages = new Map<string, Message>()
  let [heading, bytes]: string[] = []
  let meta: { readonly type?: string; readonly pause?: string; readonly skipBody?: boolean } = {}
  for (const [, title, json, block, content = ''] of text.matchAll(BLOCK)) {
    if (title !== undefined) heading = title.replaceAll('`', '')
    else if (json !== undefined) meta = JSON.parse(json)
    else if (block === 'http') bytes = unescaped(content)
    else if (bytes !== undefined) {
      const { type = '', pause, skipBody } = meta
      const [, leniency] = type.split(`${kind}-`)
      let name = `${file}: ${heading}`
      while (messages.has(name)) name += '+'
      if (pause === undefined && skipBody !== true && leniency !== 'finish')
        messages.set(name, { name, bytes, ...eventsIn(content, leniency) })
      bytes = undefined
    }
  }
  return [...messages.values()]
}

function eventsIn(log: string, leniency: string | undefined): Omit<Message, 'name' | 'bytes'> {
  return {
    complete: leniency === undefined ? log.split(' message complete').length - 1 : 0,
    begins: [...log.matchAll(/off=(\d+) message begin/g)].map(([, offset]) => Number(offset)),
    isMalformed: leniency !== undefined || ERROR.test(log),
  }
}

/** As llhttp's tests read it. */
function unescaped(block: string): string {
  return block
    .replace(/\n$/, '')
    .replace(/\\\n/g, '')
    .replaceAll('\n', '\r\n')
    .replaceAll('\\r', '\r')
    .replaceAll('\\n', '\n')
    .replaceAll('\\t', '\t')
    .replaceAll('\\f', '\f')
    .replace(/\\x([0-9a-fA-F]+)/g, (_, code) => String.fromCharCode(parseInt(code, 16)))
    .replace(/\\([0-7]{1,3})/g, (_, code) => String.fromCharCode(parseInt(code, 8)))
    .replace(/\$\{'(.+?)'\.repeat\((\d+)\)\}/g, (_, part, count) => part.repeat(Number(count)))
}
