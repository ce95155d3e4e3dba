"""A whole provisioner in plain gRPC. It puts files there and runs one program: python provisioner.py HOST:PORT."""

import base64
import hashlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
import grpc
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_health.v1 import health, health_pb2_grpc
from grpc_status import rpc_status
from slipway.v1alpha1 import cluster_pb2, content_pb2, provisioner_service_pb2 as pb, provisioner_service_pb2_grpc

LINUX, FEATURES = cluster_pb2.OS_FAMILY_LINUX, ("os.files", "plan.entrypoint")
FORMAT = pb.FormatInfo(
    format="file-list", media_type="application/json", file_extension="json", kubernetes_input=pb.KUBERNETES_INPUT_PLAN,
    features=[pb.FeatureSupport(id=id_) for id_ in FEATURES], os_families=[LINUX],
    default_target=cluster_pb2.Target(os_family=LINUX, distribution="debian", architecture="amd64"))
SPLICE = {content_pb2.SPLICE_ENCODING_JSON_STRING: lambda raw: json.dumps(raw.decode(), ensure_ascii=False).encode(),
          content_pb2.SPLICE_ENCODING_BASE64: base64.b64encode}

class Minimal(provisioner_service_pb2_grpc.ProvisionerServiceServicer):
    def GetProvisionerInfo(self, request, context):
        return pb.GetProvisionerInfoResponse(
            name="minimal", implementation_version="1.0.0", formats=[FORMAT], features_advertised=True)
    def Render(self, request, context):
        bundle, answer = request.bundle, pb.RenderResponse(request_tag=request.request_tag, format=request.format)
        unknown = [use.id for use in bundle.required_features if use.id not in FEATURES]
        if unknown or not bundle.features_computed:
            code = code_pb2.FAILED_PRECONDITION if unknown else code_pb2.INVALID_ARGUMENT
            reason = "UNSUPPORTED_FEATURE" if unknown else "FEATURES_NOT_COMPUTED"
            status = status_pb2.Status(code=code, message="the bundle uses features that are not declared")
            status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain="slipway.dev"))
            context.abort_with_status(rpc_status.to_status(status))
        secrets = {(one.name, one.key): one.value for one in bundle.secrets.secrets}
        def written(part):
            return SPLICE.get(part.encoding, bytes)(part.data or secrets[part.secret_ref.name, part.secret_ref.key])
        files = [{"path": file.path, "mode": file.mode, "owner": file.owner, "group": file.group,
                  "content": base64.b64encode(b"".join(map(written, file.content.segments))).decode()}
                 for file in bundle.os.files]
        data = json.dumps({"files": files, "run": list(bundle.plan.entrypoint.argv)}).encode()
        answer.user_data, answer.sha256 = b"" if request.validate_only else data, hashlib.sha256(data).digest()
        return answer

server = grpc.server(ThreadPoolExecutor())
provisioner_service_pb2_grpc.add_ProvisionerServiceServicer_to_server(Minimal(), server)
health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
server.add_insecure_port(sys.argv[1])
server.start()
server.wait_for_termination()
