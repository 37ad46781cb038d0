/** HTTP messages of the manual: a request, and the response that stands behind it. */

import { type Block, runnable } from './pages.ts'

export interface Exchange {
  readonly block: Block
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly status: number
  /** The JSON body of the response; undefined without one. */
  readonly shown: unknown
}

export function exchangesOf(page: string): Exchange[] {
  const blocks = runnable(page, 'http')
  const exchanges: Exchange[] = []
  for (let at = 0; at < blocks.length; at += 2) {
    const [request, response] = [blocks[at], blocks[at + 1]]
    if (request === undefined || response === undefined) throw new Error(`${page}: a request has no response`)
    exchanges.push(exchangeOf(request, response))
  }
  return exchanges
}

function exchangeOf(block: Block, response: Block): Exchange {
  const { start, headers, body } = messageOf(block.text)
  const answer = messageOf(response.text)
  const [, method = '', target = ''] = /^([A-Z]+) (\S+) HTTP\/1\.1$/.exec(start) ?? []
  const [, status = ''] = /^HTTP\/1\.1 (\d{3}) /.exec(answer.start) ?? []
  if (method === '' || status === '')
    throw new Error(`${block.page}:${block.line} is no request and response`)
  const shown: unknown = answer.body === '' ? undefined : JSON.parse(answer.body)
  return { block, method, target, headers, body, status: Number(status), shown }
}

function messageOf(text: string): { start: string; headers: Record<string, string>; body: string } {
  const [head = '', ...rest] = text.trim().split('\n\n')
  const [start = '', ...lines] = head.split('\n')
  const fields = lines.map((line) => /^([^:]+): (.*)$/.exec(line)?.slice(1) ?? [])
  return { start, headers: Object.fromEntries(fields), body: rest.join('\n\n') }
}
