"""The supply chain: what Holdfast is made of, and under which licences.

`make audit` asks for known vulnerabilities, lists licences, checks that every package is locked by
its hash, writes a CycloneDX list of the parts (build/sbom.json) and builds the wheel twice.
"""
