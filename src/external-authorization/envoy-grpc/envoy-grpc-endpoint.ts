/** The endpoint of Envoy's external authorization over gRPC. */

import type { ClientRequest } from '../../http/server/client-request.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { MalformedMessage } from '../../lib/protobuf/protobuf-reader.ts'
import { Refusal } from '../../model/errors.ts'
import type { DecisionPipeline } from '../../pipeline/gateway-pipeline.ts'
import { requestIdOf } from '../../pipeline/request-input.ts'
import { forwardedAddress } from '../../proxy/client-network.ts'
import { peerAddress, type TrustedProxies } from '../../proxy/forwarded.ts'
import type { Endpoint } from '../handler.ts'
import { refuseQuestion } from '../http-question.ts'
import { originalOfCheck } from './original-of-check.ts'
import { CheckQuestion } from './check-question.ts'
import { type CheckRequest, readCheckRequest } from './check-request.ts'
import { CallFault, headFault, invalidMessage, isCall, UnaryMessage } from './grpc-call.ts'

const CHECK_PATH = '/envoy.service.auth.v3.Authorization/Check'

/**
 * The most bytes of a CheckRequest. Envoy takes 60 KiB of header section; certificates and metadata may come
 * with it.
 */
const MAX_MESSAGE = 256 * 1024

const notGrpc = new Refusal(
  'media_type_unsupported',
  'This path takes calls of gRPC, over HTTP/2 with prior knowledge.',
)

/** @param trusted the proxies in front of Envoy, whose X-Forwarded-For names the client */
export function envoyGrpcEndpoint(pipeline: DecisionPipeline, trusted: () => TrustedProxies): Endpoint {
  return {
    path: CHECK_PATH,
    handle(request, response) {
      if (request.url === CHECK_PATH && isCall(request)) {
        const question = new CheckQuestion()
        const exchange = pipeline.ask(request, response, question)
        readQuestion(request, (message) => {
          pipeline.decide(exchange, originalOf(exchange, question, message, trusted()))
        })
        return exchange
      }
      // A call of gRPC fails with a 200, by which any other program would allow the request.
      return refuseQuestion(pipeline, request, response, 'envoy-grpc', notGrpc)
    },
  }
}

type Message = Buffer | CallFault | Refusal

/** Calls back once with the message, or never if the proxy goes away. */
function readQuestion(request: ClientRequest, done: (message: Message) => void): void {
  const fault = headFault(request)
  if (fault === null) request.deliver(new UnaryMessage(MAX_MESSAGE, done))
  else done(fault)
}

/** The request that the message describes; the question itself if it has a fault. */
function originalOf(
  exchange: Exchange,
  question: CheckQuestion,
  message: Message,
  trusted: TrustedProxies,
): ClientRequest {
  const { request } = exchange
  const check = Buffer.isBuffer(message) ? checkOf(message) : message
  if (check instanceof CallFault) question.fail(check)
  else if (check instanceof Refusal) question.fault = check
  else {
    question.client = check.source ?? peerAddress(request.socket.remoteAddress)
    const original = originalOfCheck(check.http, request.socket)
    if (!(original instanceof Refusal)) {
      question.client = clientOf(question.client, original, trusted)
      exchange.id = requestIdOf(original, trusted)
      return original
    }
    question.fault = original
  }
  request.abandon()
  return request
}

function checkOf(message: Buffer): CheckRequest | CallFault {
  try {
    return readCheckRequest(message)
  } catch (fault) {
    if (!(fault instanceof MalformedMessage)) throw fault
    return invalidMessage(`no CheckRequest: ${fault.message}`)
  }
}

/** Envoy's peer, or the client that a peer names if it is a trusted proxy. */
function clientOf(source: string, original: ClientRequest, trusted: TrustedProxies): string {
  return trusted.has(source) ? (forwardedAddress(original, trusted) ?? source) : source
}
