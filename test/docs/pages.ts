/** The pages of the manual and their fenced blocks. */

import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Block {
  readonly page: string
  /** Of the first line of its text. */
  readonly line: number
  readonly language: string
  readonly text: string
  /** Why it does not run: the comment before it; null where it does. */
  readonly notRun: string | null
}

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Top-level pages and those of `docs/`, relative to the top. */
export const pages = globSync(['*.md', 'docs/*.md'], { cwd: root }).sort()

export function textOf(page: string): string {
  return readFileSync(`${root}${page}`, 'utf8')
}

const FENCE = /^( *)```(.*)\n([\s\S]*?)^\1```$/gm
const NOT_RUN = /<!-- not run: (.+) -->\s*$/

export function blocksOf(page: string): Block[] {
  const text = textOf(page)
  return [...text.matchAll(FENCE)].map(({ index, 1: indent = '', 2: language = '', 3: inner = '' }) => ({
    page,
    line: text.slice(0, index).split('\n').length + 1,
    language,
    text: inner.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    notRun: NOT_RUN.exec(text.slice(0, index))?.[1] ?? null,
  }))
}

/** Those that run, by language. */
export function runnable(page: string, ...languages: string[]): Block[] {
  return blocksOf(page).filter(({ language, notRun }) => notRun === null && languages.includes(language))
}

export function placeOf({ page, line }: Block): string {
  return `${page}:${line}`
}
