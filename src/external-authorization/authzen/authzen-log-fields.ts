/**
 * The fields of the access log about questions and answers. The body is valid; texts are shortened, as they
 * may have a megabyte.
 */

import { isJsonObject } from '../../lib/json.ts'
import type { DecisionAnswer, EvaluationsAnswer } from './evaluations.ts'
import type { Sought } from './authzen-requests.ts'
import type { SearchAnswer } from './search.ts'

type Fields = Readonly<Record<string, unknown>>

/** The most characters of a text. */
const MAX_TEXT = 256

/** One question with its decision; of several, how many there were and how many were allowed. */
export function evaluationFields(body: unknown, answer: DecisionAnswer | EvaluationsAnswer): Fields {
  if (!('evaluations' in answer))
    return { ...askedFields(body), ...answer.context, decision: answer.decision }
  const { evaluations } = answer
  return { evaluations: evaluations.length, allowed: evaluations.filter(({ decision }) => decision).length }
}

export function searchFields(body: unknown, sought: Sought, { results }: SearchAnswer): Fields {
  return { search: sought, ...askedFields(body), results: results.length }
}

function askedFields(body: unknown): Fields {
  const { subject, action, resource, context } = object(body)
  const { properties } = object(resource)
  return {
    subject: entity(subject),
    action: text(object(action).name),
    resource: entity(resource),
    space: text(object(context).space ?? object(properties).space),
  }
}

function entity(value: unknown): string | undefined {
  const { type, id } = object(value)
  const named = text(id)
  return named === undefined ? text(type) : `${text(type) ?? ''}:${named}`
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT) : undefined
}

function object(value: unknown): Fields {
  return isJsonObject(value) ? value : {}
}
