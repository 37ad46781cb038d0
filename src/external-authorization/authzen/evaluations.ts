/** `POST /access/v1/evaluation` and `/access/v1/evaluations` (Authorization API 1.0, sections 6 and 7). */

import { TimeShare } from '../../../seats-admin/model/time-share.ts'
import { isJsonObject } from '../../lib/json.ts'
import { Refusal } from '../../model/errors.ts'
import type { Decisions } from './authzen-decisions.ts'
import { BodyReader, invalid, notObject, type EvaluationRequest } from './authzen-requests.ts'
import type { Reason } from './decision-reasons.ts'

/** The items of one request. */
export const MAX_EVALUATIONS = 1000

export interface DecisionAnswer {
  readonly decision: boolean
  readonly context: { readonly reason: Reason } | { readonly error: ItemError }
}

/** The fault of one item. */
interface ItemError {
  readonly status: 400
  readonly message: string
}

export interface EvaluationsAnswer {
  readonly evaluations: readonly DecisionAnswer[]
}

/** Rejects when the store can't be read. */
export async function evaluate(body: unknown, decisions: Decisions): Promise<DecisionAnswer | Refusal> {
  if (!isJsonObject(body)) return notObject
  const reader = new BodyReader()
  const question = reader.evaluation(body)
  if (reader.faults.length > 0) return invalid(reader.faults)
  return answerTo(question, decisions)
}

/** As {@link evaluate} if the request has no items. Rejects when the store can't be read. */
export async function evaluateAll(
  body: unknown,
  decisions: Decisions,
): Promise<DecisionAnswer | EvaluationsAnswer | Refusal> {
  if (!isJsonObject(body)) return notObject
  const items = body.evaluations ?? []
  if (!Array.isArray(items) || body.evaluations === null) return wrong('/evaluations', 'must be an array')
  const ends = endOf(body)
  if (ends instanceof Refusal) return ends
  if (items.length === 0) return evaluate(body, decisions)
  if (items.length > MAX_EVALUATIONS) return wrong('/evaluations', `has more than ${MAX_EVALUATIONS} items`)
  const { subject, action, resource, context } = body
  const defaults = definedOf({ subject, action, resource, context })
  const faults = faultsOfDefaults(defaults)
  return faults ?? { evaluations: await inOrder(items, defaults, ends, decisions) }
}

type Members = Readonly<Record<string, unknown>>

async function inOrder(
  items: readonly unknown[],
  defaults: Members,
  ends: (decision: boolean) => boolean,
  decisions: Decisions,
): Promise<DecisionAnswer[]> {
  const answers: DecisionAnswer[] = []
  const share = new TimeShare()
  for (const item of items) {
    await share.next()
    const answer = await answerToItem(item, defaults, decisions)
    answers.push(answer)
    if (ends(answer.decision)) break
  }
  return answers
}

/** A faulty item is denied, and does not fail the others. */
async function answerToItem(item: unknown, defaults: Members, decisions: Decisions): Promise<DecisionAnswer> {
  if (!isJsonObject(item)) return denied('The item must be an object.')
  const reader = new BodyReader()
  // A member of an item replaces that member of the request as a whole.
  const question = reader.evaluation({ ...defaults, ...item })
  const [fault] = reader.faults
  if (fault !== undefined) return denied(`${fault.path} ${fault.message}.`)
  return answerTo(question, decisions)
}

async function answerTo(question: EvaluationRequest, decisions: Decisions): Promise<DecisionAnswer> {
  const reason = await decisions.decide(question)
  return { decision: reason === 'allow', context: { reason } }
}

function denied(message: string): DecisionAnswer {
  return { decision: false, context: { error: { status: 400, message } } }
}

/** `options.evaluations_semantic`: whether a decision ends the evaluation. */
const SEMANTICS: ReadonlyMap<unknown, (decision: boolean) => boolean> = new Map([
  ['execute_all', () => false],
  ['deny_on_first_deny', (decision: boolean) => !decision],
  ['permit_on_first_permit', (decision: boolean) => decision],
])

function endOf(body: Members): ((decision: boolean) => boolean) | Refusal {
  const reader = new BodyReader()
  const options = reader.object(body, 'options', '')
  if (reader.faults.length > 0) return invalid(reader.faults)
  const { evaluations_semantic: semantic = 'execute_all' } = options ?? {}
  const names = [...SEMANTICS.keys()].join(', ')
  return SEMANTICS.get(semantic) ?? wrong('/options/evaluations_semantic', `must be one of ${names}`)
}

/** A default that is no valid value fails the whole request, even if every item has its own. */
function faultsOfDefaults(defaults: Members): Refusal | null {
  const reader = new BodyReader()
  reader.evaluation(defaults)
  const faults = reader.faults.filter(({ path }) => defaults[memberOf(path)] !== undefined)
  return faults.length === 0 ? null : invalid(faults)
}

function memberOf(path: string): string {
  return path.split('/')[1] ?? ''
}

function definedOf(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

function wrong(path: string, message: string): Refusal {
  return invalid([{ path, message }])
}
