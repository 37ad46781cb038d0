/** The endpoints of the decision listener for proxies that ask over HTTP. */

import type { ClientRequest } from '../http/server/client-request.ts'
import { Refusal } from '../model/errors.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { forwardedAddress } from '../proxy/client-network.ts'
import { peerAddress, type TrustedProxies } from '../proxy/forwarded.ts'
import { AskedRequest } from './asked-request.ts'
import { describedBy, type Dialect } from './dialect.ts'
import { dialects } from './dialects.ts'
import type { Endpoint } from './handler.ts'
import { HttpQuestion } from './http-question.ts'

/** @param trusted the proxies whose addresses in X-Forwarded-For are not those of clients */
export function httpEndpoints(pipeline: Pipeline, trusted: () => TrustedProxies): Endpoint[] {
  return dialects.map((dialect) => endpointOf(dialect, pipeline, trusted))
}

function endpointOf(dialect: Dialect, pipeline: Pipeline, trusted: () => TrustedProxies): Endpoint {
  return {
    path: dialect.path,
    handle(request, response) {
      const described = describedBy(request, dialect)
      const isFault = described instanceof Refusal
      const client = clientOf(request, trusted())
      const { name, more, refusesOnly = false } = dialect
      const fault = isFault ? described : null
      const question = new HttpQuestion(name, request, { client, fault, more, refusesOnly })
      const exchange = pipeline.ask(request, response, question)
      pipeline.decide(exchange, isFault ? request : new AskedRequest(request, described))
      return exchange
    },
  }
}

/** The asking proxy names its client last. Without its word, the client is the proxy itself. */
function clientOf(request: ClientRequest, trusted: TrustedProxies): string {
  return forwardedAddress(request, trusted) ?? peerAddress(request.socket.remoteAddress)
}
