#!/usr/bin/env bash
# langchain 1.5.2: SummarizationMiddleware takes messages out of the thread that its summary has not read.
#
# Expected: who summarises reads all that the summary stands for, or somebody says that it did not.
# Seen: of what is to go, the summariser is given the last 4,000 tokens (trim_tokens_to_summarize). Of 60 messages that go, it reads
# fewer than half. What the earlier ones said is in no summary, in no later request and not in the thread.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check langchain==1.5.2 langchain-core==1.8.3
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage

asked, sent = [], []


class Canned(FakeListChatModel):
    kept: str

    def _call(self, messages, *given, **named):
        {"asked": asked, "sent": sent}[self.kept].append("\n".join(str(message.content) for message in messages))
        return super()._call(messages, *given, **named)


said = [f"Fact {number}: " + "the house has a number and a colour, " * 16 for number in range(64)]
messages = [(HumanMessage if number % 2 == 0 else AIMessage)(text) for number, text in enumerate(said)]
summary = SummarizationMiddleware(Canned(responses=["A summary."], kept="asked"), trigger=("messages", 60), keep=("messages", 4))
agent = create_agent(Canned(responses=["Yes."], kept="sent"), [], middleware=[summary])
thread = agent.invoke({"messages": messages + [HumanMessage("Do you remember fact 3?")]})

print("langchain", version("langchain"))
has = lambda texts, number: any(f"Fact {number}:" in text for text in texts)
read = [number for number in range(64) if has(asked, number)]
kept = [number for number in range(64) if has([str(message.content) for message in thread["messages"]], number)]
nowhere = [number for number in range(64) if number not in read and number not in kept and not has(sent, number)]
print(f"the summariser read {len(read)} messages, the thread kept {len(kept)}; {len(nowhere)} are nowhere, from fact {nowhere[0]} to {nowhere[-1]}")
sys.exit(0 if len(read) < 30 and len(nowhere) > 30 and nowhere[0] == 0 else 1)
PYTHON
