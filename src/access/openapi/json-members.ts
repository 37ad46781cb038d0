/** Where the members of a JSON text stand, which `JSON.parse` does not tell. */

import { endOfString } from '../../lib/json.ts'

export interface Member {
  /** Of its name: offset in the text. */
  readonly at: number
  readonly members: Map<string, Member>
}

/** Levels of objects that are looked at; all that is read of a description is above. */
const LEVELS = 5

const QUOTE = 0x22
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

interface Level {
  /** Null: an array, what is in one, or too deep. */
  readonly member: Member | null
  readonly path: readonly string[]
}

/** @param text that `JSON.parse` accepts; of a member that an object has twice, the last one is kept, as there */
export function jsonMembers(text: string): { root: Member; twice: (readonly string[])[] } {
  const root: Member = { at: 0, members: new Map() }
  const twice: (readonly string[])[] = []
  const stack: Level[] = []
  const none: Level = { member: null, path: [] }
  /** Whose value comes next. */
  let next: Level = { member: root, path: [] }
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === OPEN_OBJECT) {
      stack.push(stack.length < LEVELS ? next : none)
      next = none
    } else if (code === OPEN_ARRAY) {
      stack.push(none)
      next = none
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) stack.pop()
    else if (code === QUOTE) {
      const end = endOfString(text, at)
      // A string with a colon behind it is the name of a member.
      const holder = stack.at(-1) ?? none
      if (holder.member !== null && isName(text, end + 1)) {
        const name = JSON.parse(text.slice(at, end + 1)) as string
        const path = [...holder.path, name]
        if (holder.member.members.has(name)) twice.push(path)
        const member: Member = { at, members: new Map() }
        holder.member.members.set(name, member)
        next = { member, path }
      }
      at = end
    }
  }
  return { root, twice }
}

function isName(text: string, from: number): boolean {
  let at = from
  while (/\s/.test(text.charAt(at))) at++
  return text.charAt(at) === ':'
}
